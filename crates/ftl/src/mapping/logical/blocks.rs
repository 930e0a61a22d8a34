//! Blocks of logical blocks: their allocation, the pages programmed in them, and the block that
//! takes the next write.

use wordline_nand::{Block, Plane, Ppn};

use super::state::{MERGING, Member, Role, SOURCE, STRAY};
use super::{LogicalBlock, LogicalMap, SpaceRequest};
use crate::block::Phase;
use crate::lpn::Lpn;
use crate::wear::Spend;

impl LogicalMap {
    /// Takes a free block of a plane for a logical block. The caller ensures that the plane has
    /// one.
    pub(super) fn open(&mut self, plane: Plane, logical: LogicalBlock, role: Role) -> Block {
        let block = self.take_free(plane);
        self.blocks.enter(block, Phase::Active);
        let state = &mut self.logical[logical.0 as usize];
        let mut member = Member {
            next: state.first,
            ..Member::default()
        };
        member.set_role(role);
        self.members[block.index()] = member;
        state.first = block.0 + 1;
        state.blocks += 1;
        if role == Role::Update {
            state.updates += 1;
            state.active = block.0 + 1;
        }
        self.sort(logical);
        block
    }

    pub(super) fn take_free(&mut self, plane: Plane) -> Block {
        let state = &mut self.planes[plane.index()];
        assert!(
            state.free > 0,
            "plane {} has no free block, not even in the reserve",
            plane.0
        );
        state.free -= 1;
        self.free_blocks -= 1;
        let block = self.free.take(plane);
        block.unwrap_or_else(|| unreachable!("the plane has a free block"))
    }

    /// Iterates over the blocks of a logical block, most recently opened first.
    pub(super) fn chain(&self, logical: LogicalBlock) -> impl Iterator<Item = Block> + '_ {
        let mut next = self.logical[logical.0 as usize].first;
        std::iter::from_fn(move || {
            let block = Block(next.checked_sub(1)?);
            next = self.members[block.index()].next;
            Some(block)
        })
    }

    pub(super) fn unlink(&mut self, logical: LogicalBlock, removed: Block) {
        let after = self.members[removed.index()].next;
        let state = &mut self.logical[logical.0 as usize];
        state.blocks -= 1;
        if state.first == removed.0 + 1 {
            state.first = after;
            return;
        }
        let mut block = Block(state.first - 1);
        while self.members[block.index()].next != removed.0 + 1 {
            block = Block(self.members[block.index()].next - 1);
        }
        self.members[block.index()].next = after;
    }

    /// Returns the update block that takes writes, if it has room.
    #[inline]
    pub(super) fn active(&self, logical: LogicalBlock) -> Option<Block> {
        let block = Block(self.logical[logical.0 as usize].active.checked_sub(1)?);
        let used = u32::from(self.members[block.index()].used);
        (used < self.layout.pages_per_block).then_some(block)
    }

    /// Takes the next page of `block` for a program of `page`.
    #[inline]
    pub(super) fn append(&mut self, block: Block, page: Lpn, offset: u32) -> Ppn {
        let member = &mut self.members[block.index()];
        let slot = u32::from(member.used);
        member.used += 1;
        if slot != offset {
            member.bits |= STRAY;
        }
        let place = self.layout.page(block, slot);
        self.owners[place.index()] = page.0 + 1;
        self.map[page.index()] = place.0 + 1;
        self.blocks.gain(block, place);
        if slot + 1 == self.layout.pages_per_block {
            self.blocks.enter(block, Phase::Closed);
        }
        place
    }

    /// Marks the copy at `place` as invalid, because its page is superseded, moved or trimmed.
    #[inline]
    pub(super) fn lose(&mut self, logical: LogicalBlock, place: Ppn) {
        let block = self.layout.block_of(place);
        self.blocks.lose(block, place);
        if self.is_of_buffer(block) {
            self.logical[logical.0 as usize].buffered -= 1;
        }
    }

    /// Returns the number of blocks that the pages of a logical block fill after a merge.
    pub(super) fn needed(&self, logical: LogicalBlock) -> u32 {
        let valid = self.logical[logical.0 as usize].valid;
        if self.rules.in_place {
            u32::from(valid > 0)
        } else {
            valid.div_ceil(self.layout.pages_per_block)
        }
    }

    /// Turns update blocks into data blocks, without a flash operation, as long as there is room
    /// for data blocks. An update block qualifies if all its pages are valid and, with fixed
    /// offsets, at their offsets.
    pub(super) fn promote(&mut self, logical: LogicalBlock) {
        let chain: Vec<Block> = self.chain(logical).collect();
        let data = |block: &&Block| self.members[block.index()].role() == Role::Data;
        let data = chain.iter().filter(data).count() as u32;
        let mut room = self.rules.data_blocks.saturating_sub(data);
        for block in chain {
            let member = self.members[block.index()];
            let whole = self.blocks.valid(block) == self.layout.pages_per_block;
            let fits = !self.rules.in_place || !member.is(STRAY);
            if room > 0 && whole && fits && member.role() == Role::Update && !member.is(SOURCE) {
                self.members[block.index()].set_role(Role::Data);
                self.logical[logical.0 as usize].updates -= 1;
                room -= 1;
            }
        }
    }

    /// Returns the block that takes the next write of a logical block, or the space that GC must
    /// gain first.
    #[inline]
    pub(super) fn room(
        &mut self,
        plane: Plane,
        logical: LogicalBlock,
    ) -> Result<Block, SpaceRequest> {
        let state = &self.planes[plane.index()];
        if state.free < self.reserve_blocks && state.merge.is_none() {
            // A merge that a power cut interrupted must run first, before writes increase its work.
            return Err(SpaceRequest::Free(plane));
        }
        match self.active(logical) {
            Some(block) => Ok(block),
            None => self.make_room(plane, logical),
        }
    }

    #[cold]
    pub(super) fn make_room(
        &mut self,
        plane: Plane,
        logical: LogicalBlock,
    ) -> Result<Block, SpaceRequest> {
        self.promote(logical);
        let state = self.logical[logical.0 as usize];
        let merging = state.bits & MERGING != 0;
        if merging || u32::from(state.updates) >= self.rules.update_blocks {
            return Err(SpaceRequest::Update(plane, logical));
        }
        if self.planes[plane.index()].free <= self.reserve_blocks {
            return Err(SpaceRequest::Free(plane));
        }
        Ok(self.open(plane, logical, Role::Update))
    }
}
