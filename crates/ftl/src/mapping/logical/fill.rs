//! Untimed fill of whole blocks of logical blocks.

use std::ops::Range;

use wordline_nand::{Block, Plane};

use super::state::STRAY;
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
        let places = self.layout.page(block, 0).0..self.layout.page(block, count).0;
        for (offset, place) in (offset..).zip(places.clone()) {
            let page = self.shape.page(logical, offset);
            let page = page.unwrap_or_else(|| unreachable!("the host has all pages of the block"));
            self.owners[place as usize] = page.0 + 1;
            self.map[page.index()] = place + 1;
        }
        let [first, end] = [places.start, places.end].map(wordline_nand::Ppn);
        self.blocks.expect(block, first, end);
        self.blocks.enter(block, Phase::Closed);
        let member = &mut self.members[block.index()];
        member.used = count as u16;
        if offset > 0 {
            member.bits |= STRAY;
        }
        self.logical[logical.0 as usize].valid += count;
        self.sort(logical);
        block
    }
}
