//! Write buffer: blocks that take, page by page, the writes that find no room in their logical
//! block.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use wordline_nand::{Block, Plane, Ppn};

use super::state::{Member, Role};
use super::{LogicalBlock, LogicalMap};
use crate::block::Phase;
use crate::lpn::Lpn;
use crate::wear::Spend;

/// Write buffer of a plane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Buffer {
    /// Blocks in use, oldest first. The last one takes writes.
    pub blocks: VecDeque<Block>,
    /// Number of blocks that the buffer may still take.
    pub left: u32,
    /// Number of blocks that the buffer may take when it is empty.
    pub size: u32,
}

impl Buffer {
    pub fn new(blocks: u32) -> Self {
        Self {
            blocks: VecDeque::new(),
            left: blocks,
            size: blocks,
        }
    }
}

impl LogicalMap {
    #[inline]
    pub(super) fn is_of_buffer(&self, block: Block) -> bool {
        self.members[block.index()].role() == Role::Buffer
    }

    /// Returns the buffer block that takes the next page, if there is room. Delays the merge of the
    /// logical block, which stays pending while the buffer contains pages of the logical block.
    pub(super) fn buffer(&mut self, plane: Plane, logical: LogicalBlock) -> Option<Block> {
        if self.rules.buffer_ratio == 0.0 {
            return None;
        }
        let pages = self.layout.pages_per_block;
        let buffer = &mut self.planes[plane.index()].buffer;
        let last = buffer.blocks.back().copied();
        let block = match last.filter(|block| u32::from(self.members[block.index()].used) < pages) {
            Some(block) => block,
            None if buffer.left == 0 => return None,
            None => {
                buffer.left -= 1;
                let block = self.free.take(plane)?;
                buffer.blocks.push_back(block);
                self.blocks.enter(block, Phase::Active);
                self.members[block.index()] = Member::default();
                self.members[block.index()].set_role(Role::Buffer);
                block
            }
        };
        self.put_off(logical);
        Some(block)
    }

    pub(super) fn append_to_buffer(
        &mut self,
        plane: Plane,
        logical: LogicalBlock,
        block: Block,
        page: Lpn,
    ) -> Ppn {
        debug_assert_eq!(self.layout.plane_of(block), plane);
        let member = &mut self.members[block.index()];
        let place = self.layout.page(block, member.used.into());
        member.used += 1;
        self.owners[place.index()] = page.0 + 1;
        self.map[page.index()] = place.0 + 1;
        self.blocks.gain(block, place);
        self.logical[logical.0 as usize].buffered += 1;
        place
    }

    /// Removes and returns a full buffer block without valid pages, which can be erased.
    pub(super) fn spent(&mut self, plane: Plane) -> Option<Block> {
        let pages = self.layout.pages_per_block;
        let buffer = &self.planes[plane.index()].buffer;
        let spent = |block: &Block| {
            u32::from(self.members[block.index()].used) == pages && self.blocks.valid(*block) == 0
        };
        let place = buffer.blocks.iter().position(spent)?;
        self.planes[plane.index()].buffer.blocks.remove(place)
    }

    /// Handles the erase of a block. Gives the block to the buffer if the buffer is below its size,
    /// unless a merge might need the block.
    pub(super) fn give_back(&mut self, plane: Plane) {
        let state = &mut self.planes[plane.index()];
        let buffer = &mut state.buffer;
        let has = buffer.blocks.len() as u32 + buffer.left;
        if has < buffer.size && state.free >= self.reserve_blocks {
            buffer.left += 1;
            return;
        }
        state.free += 1;
        self.free_blocks += 1;
    }

    /// Returns the logical block whose page has been in the buffer for the longest time, if the
    /// buffer is full.
    pub(super) fn oldest_in_full_buffer(&self, plane: Plane) -> Option<LogicalBlock> {
        let buffer = &self.planes[plane.index()].buffer;
        let last = buffer.blocks.back()?;
        let pages = self.layout.pages_per_block;
        if buffer.left > 0 || u32::from(self.members[last.index()].used) < pages {
            return None;
        }
        let places = buffer.blocks.iter().flat_map(|&block| {
            let first = self.layout.page(block, 0).0;
            (first..first + pages).map(Ppn)
        });
        let place = places
            .into_iter()
            .find(|place| self.blocks.is_valid(*place))?;
        let (logical, _) = self.shape.of(Lpn(self.owners[place.index()] - 1));
        Some(logical)
    }
}
