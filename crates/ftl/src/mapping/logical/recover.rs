//! Recovery of logical blocks: rebuilds their tables from spare areas, and checks them.

use wordline_nand::{Block, Plane};

use super::record::{BLOCKS, Record};
use super::state::{MERGING, Member, Role, STRAY};
use super::{LogicalBlock, LogicalMap, Mapping, RECORD};
use crate::block::Phase;
use crate::lpn::Lpn;
use crate::recovery::{Flash, Latest, PageOwner, Recovery};
use crate::wear::Spend;

/// Blocks found in a plane.
#[derive(Debug, Default)]
struct Found {
    /// Blocks with current pages, each with the lowest placement number of its pages.
    held: Vec<(u64, Block)>,
    /// Blocks with records, each with the highest placement number of its records.
    records: Vec<(u64, Block)>,
    /// Number of erased blocks.
    free: u32,
}

impl LogicalMap {
    /// Rebuilds the tables from spare areas.
    pub(super) fn rebuild(&mut self, flash: &Flash<'_>) -> Recovery {
        let mut recovery = Recovery::default();
        self.reread(flash, &mut recovery);
        self.free_blocks = 0;
        for plane in (0..self.layout.planes()).map(Plane) {
            let mut found = self.sort_blocks(flash, plane, &mut recovery);
            self.planes[plane.index()].free = found.free;
            self.free_blocks += found.free;
            self.find_records(flash, plane, &mut found);
            let state = &mut self.planes[plane.index()];
            state.buffer.left = 0;
            for _ in 0..std::mem::take(&mut state.free) {
                self.give_back(plane);
            }
            found.held.sort_unstable();
            for (_, block) in found.held {
                self.adopt(flash, plane, block);
                recovery.pages_read -= u64::from(self.told_by_records(block));
            }
        }
        self.free_blocks = self.planes.iter().map(|state| state.free).sum();
        for logical in (0..self.logical.len() as u32).map(LogicalBlock) {
            if self.logical[logical.0 as usize].blocks > 0 {
                self.sort(logical);
            }
        }
        recovery
    }

    fn reread(&mut self, flash: &Flash<'_>, recovery: &mut Recovery) {
        let mut latest = Latest::new(self.map.len());
        for block in (0..self.layout.blocks()).map(Block) {
            recovery.pages_read += u64::from(flash.array.programmed(block).max(1));
            for (place, tag) in flash.pages(block) {
                if let Some(tag) = tag
                    && let PageOwner::Host(page) = tag.owner
                {
                    self.owners[place.index()] = page.0 + 1;
                    latest.note(page.0, place, tag);
                }
            }
        }
        for (page, place, _) in latest.decide(flash) {
            self.map[page as usize] = place.0 + 1;
            self.blocks.gain(self.layout.block_of(place), place);
            let (logical, _) = self.shape.of(Lpn(page));
            self.logical[logical.0 as usize].valid += 1;
        }
    }

    fn sort_blocks(&mut self, flash: &Flash<'_>, plane: Plane, recovery: &mut Recovery) -> Found {
        let layout = self.layout;
        let mut found = Found::default();
        while self.free.take(plane).is_some() {}
        for block in (0..layout.blocks_per_plane).map(|block| layout.block(plane, block)) {
            let orders = |wanted: Option<u32>| {
                let tags = flash.pages(block).filter_map(|(_, tag)| tag);
                let tags = tags.filter(move |tag| match (wanted, tag.owner) {
                    (None, PageOwner::Host(_)) => true,
                    (Some(label), PageOwner::Metadata(own)) => own == label,
                    _ => false,
                });
                tags.map(|tag| tag.order)
            };
            if flash.array.programmed(block) == 0 {
                let erases = flash.array.erases()[block.index()];
                self.blocks.enter(block, Phase::Free);
                self.free.erased(plane, block, erases);
                found.free += 1;
            } else if let Some(order) = orders(Some(RECORD)).max() {
                found.records.push((order, block));
            } else if self.blocks.valid(block) > 0 {
                found.held.push((orders(None).min().unwrap_or(0), block));
            } else {
                // The block is neither free nor owned until it is erased.
                self.blocks.enter(block, Phase::Victim);
                recovery.erase.push(block);
            }
        }
        found
    }

    /// Restores the record blocks of a plane. Recording continues after the last record found.
    fn find_records(&mut self, flash: &Flash<'_>, plane: Plane, found: &mut Found) {
        if !self.rules.record_erases {
            return;
        }
        found
            .records
            .sort_unstable_by_key(|found| std::cmp::Reverse(*found));
        let mut blocks: Vec<Block> = found.records.iter().map(|(_, block)| *block).collect();
        let other_is_erased = blocks.len() < BLOCKS as usize;
        if (blocks.len() as u32) + self.planes[plane.index()].free < BLOCKS {
            // At the end of its life, the plane may have no blocks left for records. Recording then
            // stops.
            return;
        }
        while blocks.len() < BLOCKS as usize {
            blocks.push(self.take_free(plane));
        }
        for block in &blocks {
            self.blocks.enter(*block, Phase::Active);
        }
        self.planes[plane.index()].record = Record {
            blocks: [blocks[0], blocks[1]],
            turn: 0,
            next: flash.array.programmed(blocks[0]),
            other_is_erased,
        };
    }

    /// Assigns a block to the logical block whose pages it contains. A block with pages of several
    /// logical blocks belongs to the write buffer.
    fn adopt(&mut self, flash: &Flash<'_>, plane: Plane, block: Block) {
        let used = flash.array.programmed(block);
        let mut member = Member {
            used: used as u16,
            ..Member::default()
        };
        let mut owner = None;
        let mut shared = false;
        for slot in 0..used {
            let place = self.layout.page(block, slot);
            let Some(page) = self.owners[place.index()].checked_sub(1) else {
                continue;
            };
            let (logical, offset) = self.shape.of(Lpn(page));
            shared |= owner.is_some_and(|owner| owner != logical);
            owner = Some(logical);
            if offset != slot {
                member.bits |= STRAY;
            }
        }
        let full = used == self.layout.pages_per_block;
        self.blocks
            .enter(block, if full { Phase::Closed } else { Phase::Active });
        let Some(logical) = owner else {
            return;
        };
        if shared || self.is_one_too_many(logical) {
            self.give_to_buffer(plane, block, member);
            return;
        }
        let whole = full && self.blocks.valid(block) == used;
        let state = &mut self.logical[logical.0 as usize];
        let place_for_data = if self.rules.in_place {
            state.blocks == 0 && full
        } else {
            whole && u32::from(state.blocks - state.updates) < self.rules.data_blocks
        };
        let is_data = place_for_data && (!self.rules.in_place || member.bits & STRAY == 0);
        member.set_role(if is_data { Role::Data } else { Role::Update });
        member.next = state.first;
        state.first = block.0 + 1;
        state.blocks += 1;
        if !is_data {
            state.updates += 1;
            state.active = block.0 + 1;
        }
        self.members[block.index()] = member;
    }

    /// Returns the number of pages of a block that recovery need not read. The records are a
    /// checkpoint of the block table, and in a data block every page is at its offset. Only the
    /// first page is read, to check that the block is the one in the table. Count.
    fn told_by_records(&self, block: Block) -> u32 {
        let member = self.members[block.index()];
        let in_place = self.rules.in_place && member.role() == Role::Data;
        if in_place && self.rules.record_erases {
            u32::from(member.used).saturating_sub(1)
        } else {
            0
        }
    }

    /// Returns `true` if the mapping has a write buffer, and the logical block already has all its
    /// data and update blocks.
    fn is_one_too_many(&self, logical: LogicalBlock) -> bool {
        let most = self.rules.data_blocks + self.rules.update_blocks;
        let blocks = u32::from(self.logical[logical.0 as usize].blocks);
        self.rules.buffer_ratio > 0.0 && blocks >= most
    }

    fn give_to_buffer(&mut self, plane: Plane, block: Block, mut member: Member) {
        member.set_role(Role::Buffer);
        self.members[block.index()] = member;
        let buffer = &mut self.planes[plane.index()].buffer;
        buffer.blocks.push_back(block);
        if buffer.left > 0 && buffer.blocks.len() as u32 + buffer.left > buffer.size {
            buffer.left -= 1;
            self.planes[plane.index()].free += 1;
            self.free_blocks += 1;
        }
        for slot in 0..u32::from(member.used) {
            let place = self.layout.page(block, slot);
            let Some(page) = self.owners[place.index()].checked_sub(1) else {
                continue;
            };
            if self.map[page as usize] == place.0 + 1 {
                let (logical, _) = self.shape.of(Lpn(page));
                self.logical[logical.0 as usize].buffered += 1;
                self.put_off(logical);
            }
        }
    }

    /// Checks the counters against the tables.
    pub(super) fn check(&self) -> Result<(), String> {
        let mut valid = vec![0_u32; self.layout.blocks() as usize];
        let mut of_logical = vec![0_u32; self.logical.len()];
        for page in (0..self.user_pages()).map(Lpn) {
            let Some(place) = self.lookup(page) else {
                continue;
            };
            let (logical, _) = self.shape.of(page);
            if self.owner_of(logical, place) != Some(page) {
                return Err(format!(
                    "page {} maps to {}, which another page or no page owns",
                    page.0,
                    self.layout.describe(place)
                ));
            }
            valid[self.layout.block_of(place).index()] += 1;
            of_logical[logical.0 as usize] += 1;
        }
        for (block, &count) in valid.iter().enumerate() {
            let block = Block(block as u32);
            let booked = self.blocks.valid(block);
            if booked != count {
                let block = self.layout.describe_block(block);
                return Err(format!(
                    "{block} holds {count} valid pages, but the counter is {booked}"
                ));
            }
        }
        for (logical, &count) in of_logical.iter().enumerate() {
            self.check_logical(LogicalBlock(logical as u32), count)?;
        }
        (0..self.layout.planes()).try_for_each(|plane| self.check_plane(Plane(plane)))
    }

    fn check_logical(&self, logical: LogicalBlock, valid: u32) -> Result<(), String> {
        let state = self.logical[logical.0 as usize];
        let blocks: Vec<Block> = self.chain(logical).collect();
        let there: u32 = blocks.iter().map(|&block| self.blocks.valid(block)).sum();
        let found = (valid, valid - state.buffered.min(valid), blocks.len());
        let booked = (state.valid, there, usize::from(state.blocks));
        if found != booked {
            return Err(format!(
                "logical block {}: valid pages, valid pages outside the buffer, and blocks are {found:?}, \
                 but the counters are {booked:?}",
                logical.0
            ));
        }
        let merging = state.bits & MERGING != 0;
        let plane = self.shape.home(logical);
        let is = |merge: &super::merge::Merge| merge.logical == logical;
        if merging != self.planes[plane.index()].merge.as_ref().is_some_and(is) {
            return Err(format!(
                "logical block {}: its merging flag contradicts the merge in progress on its plane",
                logical.0
            ));
        }
        Ok(())
    }

    fn check_plane(&self, plane: Plane) -> Result<(), String> {
        let blocks = (0..self.layout.blocks_per_plane).map(|block| self.layout.block(plane, block));
        let free = blocks
            .filter(|&block| self.blocks.phase(block) == Phase::Free)
            .count() as u32;
        let state = &self.planes[plane.index()];
        let booked = state.free + state.buffer.left;
        if free == booked {
            return Ok(());
        }
        Err(format!(
            "plane {}: {free} blocks are free, but the counter is {booked}",
            plane.0
        ))
    }
}
