//! Untimed fill of whole blocks of logical blocks.
//!
//! A fill stores no entry per page. The physical pages of a part of a logical block follow from the
//! block that the part fills, until a page is written, moved or trimmed.

use std::ops::Range;

use wordline_nand::{Block, Plane, Ppn};

use super::state::{FILLED, STRAY};
use super::{LogicalBlock, LogicalMap, Mapping};
use crate::block::Phase;
use crate::lpn::Lpn;

impl LogicalMap {
    /// Implements [`Mapping::fill`].
    pub(super) fn fill_whole<E>(
        &mut self,
        pages: Range<u32>,
        mut filled: impl FnMut(Block) -> Result<(), E>,
    ) -> Result<u32, E> {
        let count = self.layout.pages_per_block;
        let Some(together) = self.shape.filled_together(count) else {
            return Ok(0);
        };
        let round = together * count;
        let mut next = pages.start;
        if !next.is_multiple_of(round) {
            return Ok(0);
        }
        while pages.end - next >= round {
            let (first, offset) = self.shape.of(Lpn(next));
            let blocks = (first.0..first.0 + together).map(LogicalBlock);
            if !blocks
                .clone()
                .all(|logical| self.is_to_fill(logical, offset))
            {
                break;
            }
            for logical in blocks {
                filled(self.fill_block(logical, offset))?;
            }
            next += round;
        }
        Ok(next - pages.start)
    }

    /// Returns `true` if exactly the pages of a logical block before `offset` have been written,
    /// each once, and its plane has enough free blocks to fill one more without GC.
    fn is_to_fill(&self, logical: LogicalBlock, offset: u32) -> bool {
        let state = &self.logical[logical.0 as usize];
        let plane = self.shape.home(logical);
        let free = self.planes[plane.index()].free;
        state.valid == offset
            && u32::from(state.blocks) * self.layout.pages_per_block == offset
            && free > self.start_blocks.max(self.reserve_blocks)
            && !self.wants_collection(plane)
    }

    /// Fills a block with the pages of a logical block from `offset` on. Returns the block.
    fn fill_block(&mut self, logical: LogicalBlock, offset: u32) -> Block {
        let plane: Plane = self.shape.home(logical);
        let block = self.room(plane, logical);
        let block = block.unwrap_or_else(|_| unreachable!("the plane has a free block"));
        let count = self.layout.pages_per_block;
        let [first, end] = [0, count].map(|slot| self.layout.page(block, slot));
        self.blocks.expect(block, first, end);
        self.blocks.enter(block, Phase::Closed);
        let member = &mut self.members[block.index()];
        member.used = count as u16;
        member.bits |= FILLED;
        member.part = (offset / count) as u8;
        if offset > 0 {
            member.bits |= STRAY;
        }
        self.logical[logical.0 as usize].valid += count;
        self.sort(logical);
        block
    }

    /// Returns the physical page of a page at an offset of a logical block, if a fill put it there
    /// and it has no entry since.
    #[inline(never)]
    pub(super) fn filled_place(&self, logical: LogicalBlock, offset: u32) -> Option<Ppn> {
        let count = self.layout.pages_per_block;
        let (part, slot) = (offset / count, offset % count);
        let holds = |block: &Block| {
            let member = self.members[block.index()];
            member.is(FILLED) && u32::from(member.part) == part
        };
        let block = self.chain(logical).find(holds)?;
        Some(self.layout.page(block, slot))
    }

    /// Returns the page that a fill programmed at `place`, a page of a block of `logical`; `None` if
    /// the block was not filled.
    pub(super) fn filled_owner(&self, logical: LogicalBlock, place: Ppn) -> Option<Lpn> {
        let block = self.layout.block_of(place);
        let member = self.members[block.index()];
        let slot = place.0 - self.layout.page(block, 0).0;
        let offset = u32::from(member.part) * self.layout.pages_per_block + slot;
        member
            .is(FILLED)
            .then(|| self.shape.page(logical, offset))?
    }

    fn filled_block(&self, logical: LogicalBlock) -> Option<Block> {
        self.chain(logical)
            .find(|block| self.members[block.index()].is(FILLED))
    }

    /// Stores the entries of the pages of a logical block that follow from a fill.
    pub(super) fn store_filled(&mut self, logical: LogicalBlock) {
        while let Some(block) = self.filled_block(logical) {
            let first = self.layout.page(block, 0).0;
            let member = &mut self.members[block.index()];
            let offset = u32::from(member.part) * self.layout.pages_per_block;
            member.bits &= !FILLED;
            member.part = 0;
            for slot in 0..self.layout.pages_per_block {
                let Some(page) = self.shape.page(logical, offset + slot) else {
                    break;
                };
                let place = first + slot;
                self.owners[place as usize] = page.0 + 1;
                let entry = &mut self.map[page.index()];
                if *entry == 0 {
                    *entry = place + 1;
                }
            }
        }
    }
}
