//! Translation blocks of a plane.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use wordline_nand::{Block, Plane, Ppn};

use crate::job::{JobId, Step};
use crate::lpn::Lpn;
use crate::mapping::page::PageMap;

/// Whether and when a plane has room for one more translation page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// A page is available.
    Page,
    /// A page will be available after a translation block has been cleaned.
    Clean,
    /// No page is available until other jobs have progressed.
    None,
}

/// Progress of cleaning a translation block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    Reading,
    Copying,
    Erasing,
    Erased,
}

/// Translation block that is being cleaned. Its current pages are copied, then it is erased.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Cleaning {
    /// Job that cleans the block.
    job: JobId,
    victim: Block,
    /// Next page of the victim to examine.
    next: Ppn,
    /// Translation pages that have been read but not copied.
    copies: VecDeque<u32>,
    /// Number of pages reserved for the remaining copies.
    reserved: u32,
    stage: Stage,
}

/// Translation blocks of a plane: one takes programs, the others are full. Room for translation
/// pages consists of the rest of the active block and the blocks that [`PageMap`] keeps free. A
/// page is reserved only while one block's worth of pages remains, or will be gained from the block
/// being cleaned, so that cleaning always has room for its copies.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Area {
    full: Vec<Block>,
    /// Next page to program.
    next: u32,
    /// Page after the last page of the active block; equal to `next` if there is no active block.
    end: u32,
    /// Number of pages reserved for rewrites or copies that are not placed yet.
    reserved: u32,
    cleaning: Option<Cleaning>,
}

impl Area {
    /// Creates the state after a power cut. The blocks `full` are full or unusable for programs.
    /// `open` is the next page and the end of the block that takes programs.
    pub fn found(full: Vec<Block>, open: Option<(Ppn, u32)>) -> Self {
        let (next, end) = open.map_or((0, 0), |(next, end)| (next.0, end));
        Self {
            full,
            next,
            end,
            ..Self::default()
        }
    }
    /// Returns the number of blocks that contain translation pages.
    pub fn blocks(&self) -> u32 {
        let open = self.next < self.end;
        self.full.len() as u32 + u32::from(open) + u32::from(self.cleaning.is_some())
    }
    /// Returns the number of pages reserved for rewrites or copies.
    pub fn reserved(&self) -> u32 {
        self.reserved
    }
    /// Returns the number of free pages for translation pages, including reserved ones.
    pub fn left(&self, plane: Plane, pages: &PageMap) -> u32 {
        self.end - self.next + pages.kept(plane) * pages.layout.pages_per_block
    }
    /// Returns the full block with the fewest current pages: its index in `full`, and the number of
    /// these pages.
    fn cheapest(&self, pages: &PageMap) -> Option<(usize, u32)> {
        let valid = |(place, block): (usize, &Block)| (place, pages.blocks.valid(*block));
        let blocks = self.full.iter().enumerate().map(valid);
        blocks.min_by_key(|(_, valid)| *valid)
    }
    /// Returns the room of `plane` for one more translation page.
    pub fn room(&self, plane: Plane, pages: &PageMap) -> Room {
        let block = pages.layout.pages_per_block;
        let left = self.left(plane, pages).saturating_sub(self.reserved);
        if self.cleaning.is_some() {
            return if left > 0 { Room::Page } else { Room::None };
        }
        if left >= block {
            return Room::Page;
        }
        let more = if pages.may_keep(plane) { block } else { 0 };
        match self.cheapest(pages) {
            Some((_, valid)) if valid < block && valid <= left + more => Room::Clean,
            _ => Room::None,
        }
    }
    /// Reserves a translation page in a plane that has room.
    pub fn reserve(&mut self) {
        self.reserved += 1;
    }
    /// Releases a reservation that has been used or is no longer needed.
    pub fn release(&mut self) {
        self.reserved -= 1;
    }
    /// Starts to clean a block of `plane` as part of `job`.
    pub fn clean(&mut self, plane: Plane, job: JobId, pages: &mut PageMap) {
        let Some((place, valid)) = self.cheapest(pages) else {
            return;
        };
        if self.left(plane, pages) < self.reserved + valid {
            pages.keep(plane);
        }
        self.reserved += valid;
        let victim = self.full.remove(place);
        self.cleaning = Some(Cleaning {
            job,
            victim,
            next: pages.layout.page(victim, 0),
            copies: VecDeque::new(),
            reserved: valid,
            stage: Stage::Reading,
        });
    }
    /// Takes the next page for a reserved translation page of `plane`.
    pub fn place(&mut self, plane: Plane, pages: &mut PageMap) -> Ppn {
        if self.next == self.end {
            let block = pages.open_kept(plane);
            self.next = pages.layout.page(block, 0).0;
            self.end = self.next + pages.layout.pages_per_block;
        }
        let place = Ppn(self.next);
        self.next += 1;
        if self.next == self.end {
            self.full.push(pages.layout.block_of(place));
        }
        place
    }
    /// Handles the erase of the block being cleaned.
    pub fn erased(&mut self) {
        self.cleaning = None;
    }

    /// Returns the next current page of the block being cleaned, and advances past it: its physical
    /// page and its number in the map.
    fn next_page(&mut self, pages: &PageMap) -> Option<(Ppn, u32)> {
        let cleaning = self.cleaning.as_mut()?;
        let end = pages
            .layout
            .page(cleaning.victim, pages.layout.pages_per_block);
        let place = pages.blocks.next_valid(cleaning.next, end);
        cleaning.next = place.map_or(end, |place| Ppn(place.0 + 1));
        place.and_then(|place| Some((place, pages.owners.get_stored(place)?.0)))
    }
    /// Returns the next action of cleaning, or `None` if `job` is not cleaning a block of the
    /// plane.
    pub fn step(&mut self, job: JobId, pages: &PageMap) -> Option<Clean> {
        if self.cleaning.as_ref()?.job != job {
            return None;
        }
        let next = self.next_page(pages);
        let cleaning = self.cleaning.as_mut()?;
        Some(match cleaning.stage {
            Stage::Reading => {
                if let Some((place, page)) = next {
                    cleaning.copies.push_back(page);
                    return Some(Clean::Step(Step::Read(place)));
                }
                cleaning.stage = Stage::Copying;
                Clean::Step(Step::Wait)
            }
            Stage::Copying => {
                while let Some(page) = cleaning.copies.pop_front() {
                    cleaning.reserved -= 1;
                    self.reserved -= 1;
                    let place = pages.map.get(Lpn(page));
                    if place.map(|place| pages.layout.block_of(place)) == Some(cleaning.victim) {
                        return Some(Clean::Copy(page));
                    }
                }
                self.reserved -= cleaning.reserved;
                cleaning.reserved = 0;
                cleaning.stage = Stage::Erasing;
                Clean::Step(Step::Wait)
            }
            Stage::Erasing => {
                cleaning.stage = Stage::Erased;
                Clean::Step(Step::Erase(cleaning.victim))
            }
            Stage::Erased => Clean::Step(Step::Wait),
        })
    }
}

/// Next action of cleaning.
#[derive(Clone, Copy, Debug)]
pub(super) enum Clean {
    Step(Step),
    /// Program a new copy of a translation page, given by its number in the map.
    Copy(u32),
}
