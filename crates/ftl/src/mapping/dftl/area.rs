//! Translation blocks of a plane.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use wordline_nand::{Block, Plane, Ppn};

use crate::job::{JobId, Step};
use crate::mapping::page::PageMap;

/// Whether a plane has room for one more translation page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// There is a page for it.
    Page,
    /// There is room after cleaning a translation block.
    Clean,
    /// There is no room until other jobs have progressed.
    None,
}

/// Progress of cleaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    Reading,
    Copying,
    Erasing,
    Erased,
}

/// Translation block that is being cleaned: its current pages are copied, then it is erased.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Cleaning {
    /// Job that cleans the block.
    job: JobId,
    victim: Block,
    /// Next page of the victim to examine.
    next: Ppn,
    /// Translation pages that have been read and not yet copied.
    copies: VecDeque<u32>,
    /// Pages reserved for the remaining copies. Count.
    reserved: u32,
    stage: Stage,
}

/// Translation blocks of a plane: one takes programs, the others are full. The rest of the open
/// block and the blocks that [`PageMap`] keeps free are the room for translation pages. A page is
/// promised only while one block's worth of pages remains, or will be gained from the block being
/// cleaned, so that cleaning always has room for its copies.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Area {
    full: Vec<Block>,
    /// Next page to program.
    next: u32,
    /// Page after the last one of the open block; equal to `next` if there is no room.
    end: u32,
    /// Pages promised or to be copied that are not yet placed. Count.
    reserved: u32,
    cleaning: Option<Cleaning>,
}

impl Area {
    /// State after a power cut: `full` are full or unusable for programs, `open` takes programs
    /// from the given page on.
    pub fn found(full: Vec<Block>, open: Option<(Ppn, u32)>) -> Self {
        let (next, end) = open.map_or((0, 0), |(next, end)| (next.0, end));
        Self {
            full,
            next,
            end,
            ..Self::default()
        }
    }
    /// Blocks that contain translation pages. Count.
    pub fn blocks(&self) -> u32 {
        let open = self.next < self.end;
        self.full.len() as u32 + u32::from(open) + u32::from(self.cleaning.is_some())
    }
    /// Pages that have been promised or are about to be copied. Count.
    pub fn reserved(&self) -> u32 {
        self.reserved
    }
    /// Remaining pages, reserved ones included. Count.
    pub fn left(&self, plane: Plane, pages: &PageMap) -> u32 {
        self.end - self.next + pages.kept(plane) * pages.layout.pages_per_block
    }
    /// Full block with the fewest current pages: its index in the list and that number.
    fn cheapest(&self, pages: &PageMap) -> Option<(usize, u32)> {
        let valid = |(place, block): (usize, &Block)| (place, pages.blocks.valid(*block));
        let blocks = self.full.iter().enumerate().map(valid);
        blocks.min_by_key(|(_, valid)| *valid)
    }
    /// Returns whether `plane` has room for one more translation page.
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
    /// Releases a reservation that is fulfilled or no longer needed.
    pub fn release(&mut self) {
        self.reserved -= 1;
    }
    /// Starts to clean a block of `plane`, as a part of `job`.
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
    /// Reports that the block being cleaned has been erased.
    pub fn erased(&mut self) {
        self.cleaning = None;
    }

    /// Next current page of the block being cleaned.
    fn next_page(&mut self, pages: &PageMap) -> Option<(Ppn, u32)> {
        let cleaning = self.cleaning.as_mut()?;
        let end = pages
            .layout
            .page(cleaning.victim, pages.layout.pages_per_block);
        let place = pages.blocks.next_valid(cleaning.next, end);
        cleaning.next = place.map_or(end, |place| Ppn(place.0 + 1));
        place.map(|place| (place, pages.owners[place.index()] - 1))
    }
    /// Next action of cleaning, or `None` if the cleaning of `job` has ended.
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
                    let place = Ppn(pages.map[page as usize] - 1);
                    if pages.layout.block_of(place) == cleaning.victim {
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
