//! GC runs of block mapping, which fill gaps and complete replacement blocks.

use serde::{Deserialize, Serialize};
use wordline_nand::{Block, Plane};

use super::{BlockMap, LogicalBlock};
use crate::job::{Collection, Cost, GcKind, JobId, Step};
use crate::mapping::SpaceRequest;
use crate::wear::Spend;

/// Work that a write needs before it can be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    Nothing,
    /// Program the pages before the offset of the write, in a free block if necessary.
    Fill,
    /// Replace the data block of a logical block with its replacement block.
    Complete(LogicalBlock),
}

/// GC run in progress. Pages are copied one at a time, as by a controller with memory for one page.
/// The target block is programmed in order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct BlockCollection {
    /// Logical block whose pages are copied.
    pub logical: LogicalBlock,
    /// Offset before which copying stops.
    end: u32,
    /// Whether a step has been issued that must complete before the next one.
    handed: bool,
    /// Blocks whose erase has not been issued.
    old: Vec<Block>,
    /// Number of blocks that are not erased yet.
    erasing: u32,
}

impl BlockCollection {
    fn new(logical: LogicalBlock, end: u32, old: Vec<Block>) -> Self {
        Self {
            logical,
            end,
            handed: false,
            erasing: old.len() as u32,
            old,
        }
    }
}

impl BlockMap {
    /// Returns `true` if a write at `offset` of a logical block needs another block.
    pub(super) fn needs_block(&self, logical: LogicalBlock, offset: u32) -> bool {
        let home = self.home(logical);
        home.replacement.is_none() && (home.data.is_none() || offset < home.next)
    }

    pub(super) fn need(&self, plane: Plane, logical: LogicalBlock, offset: u32) -> Need {
        let home = self.home(logical);
        let state = &self.planes[plane.index()];
        let mut next = home.next;
        if home.head.is_some() {
            return Need::Complete(logical);
        } else if self.needs_block(logical, offset) {
            if home.data.is_some() && state.open >= self.open_blocks {
                let oldest = self.recent.front(plane.index());
                return oldest.map_or(Need::Nothing, |oldest| Need::Complete(LogicalBlock(oldest)));
            }
            next = 0;
        } else if offset < next {
            return Need::Complete(logical);
        }
        if offset == next {
            Need::Nothing
        } else {
            Need::Fill
        }
    }

    pub(super) fn start(&mut self, want: SpaceRequest) -> Option<Collection> {
        let SpaceRequest::Update(plane, logical) = want else {
            return None;
        };
        if self.planes[plane.index()].work.is_some() {
            return None;
        }
        let offset = self.wanted(plane, logical)?;
        let need = self.need(plane, logical, offset);
        if need == Need::Nothing {
            return None;
        }
        if let Some(logical) = self.rested(plane) {
            return self.level(plane, logical);
        }
        let cost = self.cost_of(want);
        let kind = match need {
            Need::Nothing => return None,
            Need::Fill => self.fill(plane, logical, offset)?,
            Need::Complete(logical) => self.complete(plane, logical)?,
        };
        Some(Collection {
            job: JobId::of(plane),
            kind,
            cost,
        })
    }

    /// Returns the logical block that wear levelling moves next, if any. Such a logical block is
    /// stored in a single block. At most one is moved per completed replacement block.
    fn rested(&mut self, plane: Plane) -> Option<LogicalBlock> {
        if self.planes[plane.index()].leveled {
            return None;
        }
        let (owners, homes) = (&self.owners, &self.homes);
        let owner = |block: Block| owners[block.index()].checked_sub(1);
        let is_whole = |block| {
            owner(block).is_some_and(|logical| homes[logical as usize].blocks().eq([block]))
        };
        self.free
            .rested(plane, is_whole)
            .and_then(owner)
            .map(LogicalBlock)
    }

    /// Starts a GC run that copies a logical block to the free block with the most erases.
    fn level(&mut self, plane: Plane, logical: LogicalBlock) -> Option<Collection> {
        let old: Vec<Block> = self.home(logical).kept().collect();
        let block = self.free.take_worn(plane)?;
        self.planes[plane.index()].leveled = true;
        self.open(plane, logical, block);
        let cost = Cost {
            pages: self.end(logical),
            blocks: old.len() as u32,
            metadata_pages: 0,
        };
        let work = BlockCollection::new(logical, self.end(logical), old);
        self.planes[plane.index()].work = Some(work);
        Some(Collection {
            job: JobId::of(plane),
            kind: GcKind::Wear,
            cost,
        })
    }

    fn fill(&mut self, plane: Plane, logical: LogicalBlock, offset: u32) -> Option<GcKind> {
        if self.needs_block(logical, offset) {
            let block = self.free.take(plane)?;
            self.open(plane, logical, block);
        }
        self.touch(plane, logical);
        let work = BlockCollection::new(logical, offset, Vec::new());
        self.planes[plane.index()].work = Some(work);
        Some(GcKind::Partial)
    }

    /// Returns the offset after the last valid page of a logical block; 0 if it has no valid page.
    fn end(&self, logical: LogicalBlock) -> u32 {
        let pages = (0..self.layout.pages_per_block).rev();
        let mut valid = pages.filter(|offset| self.is_valid(self.page(logical, *offset)));
        valid.next().map_or(0, |last| last + 1)
    }

    fn complete(&mut self, plane: Plane, logical: LogicalBlock) -> Option<GcKind> {
        let old: Vec<Block> = self.home(logical).kept().collect();
        if self.home(logical).replacement.is_none() {
            let block = self.free.take(plane)?;
            self.open(plane, logical, block);
        }
        self.planes[plane.index()].leveled = false;
        let end = self.end(logical);
        let kind = if end > self.home(logical).next {
            GcKind::Full
        } else {
            GcKind::Switch
        };
        self.planes[plane.index()].work = Some(BlockCollection::new(logical, end, old));
        Some(kind)
    }

    /// Returns the step for the next page before `end`: a copy, or a filler page that keeps the
    /// order. Returns `None` if all pages are programmed.
    fn copy(&mut self, logical: LogicalBlock, end: u32) -> Option<Step> {
        let next = self.home(logical).next;
        if next >= end {
            return None;
        }
        if self.is_valid(self.page(logical, next)) {
            let from = self.home(logical).holder(next)?;
            return Some(Step::Move(self.layout.page(from, next)));
        }
        let place = self.append(logical)?;
        Some(Step::Program {
            place,
            label: logical.0,
        })
    }

    pub(super) fn next_step(&mut self, plane: Plane) -> Step {
        let step = self.go_on(plane);
        if step == Step::Done {
            let over = &mut self.planes[plane.index()].over;
            *over = over.wrapping_add(1);
        }
        step
    }

    fn go_on(&mut self, plane: Plane) -> Step {
        let Some(work) = &mut self.planes[plane.index()].work else {
            return Step::Done;
        };
        if std::mem::take(&mut work.handed) {
            return Step::Wait;
        }
        let (logical, end) = (work.logical, work.end);
        if let Some(step) = self.copy(logical, end) {
            if let Some(work) = &mut self.planes[plane.index()].work {
                work.handed = true;
            }
            return step;
        }
        let work = &mut self.planes[plane.index()].work;
        match work.as_mut().and_then(|work| work.old.pop()) {
            Some(block) => Step::Erase(block),
            None if work.as_ref().is_some_and(|work| work.erasing > 0) => Step::Wait,
            None => {
                *work = None;
                Step::Done
            }
        }
    }

    /// Returns `true` if a plane has no GC run, or its GC run has no step left.
    pub(super) fn is_done(&self, plane: Plane) -> bool {
        self.planes[plane.index()]
            .work
            .as_ref()
            .is_none_or(|work| work.erasing == 0 && self.home(work.logical).next >= work.end)
    }

    /// Handles the erase of a block by the plane's GC run. After the last erase, the replacement
    /// block becomes the data block.
    pub(super) fn is_erased(&mut self, block: Block) {
        let plane = self.layout.plane_of(block);
        let state = &mut self.planes[plane.index()];
        let Some(work) = &mut state.work else {
            return;
        };
        let logical = work.logical;
        let home = &mut self.homes[logical.0 as usize];
        home.data.take_if(|data| *data == block);
        home.head.take_if(|head| *head == block);
        work.erasing -= 1;
        if work.erasing > 0 {
            return;
        }
        home.data = home.replacement.take();
        home.head_pages = 0;
        self.recent.remove(logical.0);
        state.open -= 1;
        state.work = None;
    }

    pub(super) fn cost_of(&self, want: SpaceRequest) -> Cost {
        let SpaceRequest::Update(plane, logical) = want else {
            return Cost::default();
        };
        let Some(offset) = self.wanted(plane, logical) else {
            return Cost::default();
        };
        match self.need(plane, logical, offset) {
            Need::Nothing => Cost::default(),
            Need::Fill if self.needs_block(logical, offset) => self.copies(logical, 0, offset),
            Need::Fill => self.copies(logical, self.home(logical).next, offset),
            Need::Complete(logical) => {
                let home = self.home(logical);
                let next = home.replacement.map_or(0, |_| home.next);
                Cost {
                    blocks: home.kept().count() as u32,
                    ..self.copies(logical, next, self.end(logical))
                }
            }
        }
    }

    fn copies(&self, logical: LogicalBlock, from: u32, to: u32) -> Cost {
        let pages = self.count_valid(logical, from, to);
        Cost {
            pages,
            blocks: 0,
            metadata_pages: to.saturating_sub(from) - pages,
        }
    }
}
