//! Recovery of page mapping: rebuilds the tables from flash.

use wordline_nand::{Block, Plane};

use super::{PageMap, Writer};
use crate::block::Phase;
use crate::lpn::Lpn;
use crate::mapping::Mapping;
use crate::owner::{Claim, Claims};
use crate::recovery::{Flash, Latest, PageOwner, Recovery};
use crate::wear::Spend;

impl PageMap {
    /// Rebuilds the map and all tables from spare areas.
    pub(super) fn rebuild(&mut self, flash: &Flash<'_>) -> Recovery {
        *self = Self::new(&self.plan.clone()).with_cache();
        self.restore_cache(flash);
        let mut recovery = Recovery::default();
        self.reread(flash, &mut recovery);
        for plane in (0..self.layout.planes()).map(Plane) {
            self.sort_blocks(flash, plane, 0);
        }
        self.turn_all_to_cache();
        recovery
    }

    /// Rebuilds the map of pages with an owner from the owner's claims. Blocks without claimed
    /// pages are erased only if the plane has too few free blocks; GC reclaims the others.
    pub(in crate::mapping) fn rebuild_for(
        &mut self,
        flash: &Flash<'_>,
        claims: &Claims,
    ) -> Recovery {
        *self = Self::new(&self.plan.clone());
        self.grow(claims.numbers);
        self.scattered = true;
        self.free_blocks = 0;
        self.unwritten = self.user_pages();
        let mut latest = Latest::new(self.map.len());
        for Claim { page, place, tag } in &claims.copies {
            self.owners.set(*place, *page);
            latest.note(page.0, *place, *tag);
        }
        for (page, place, _) in latest.decide(flash) {
            self.map.set(Lpn(page), place);
            self.blocks.gain(self.layout.block_of(place), place);
        }
        let mut recovery = Recovery::default();
        for plane in (0..self.layout.planes()).map(Plane) {
            let mut lacks = self.rest_blocks;
            for block in self.blocks_of(plane) {
                let programmed = flash.array.programmed(block);
                recovery.pages_read += self.reads_of(flash, block);
                lacks = lacks.saturating_sub(u32::from(programmed == 0));
            }
            for block in self.blocks_of(plane) {
                let spent = flash.array.programmed(block) > 0 && self.blocks.valid(block) == 0;
                if spent && lacks > 0 {
                    lacks -= 1;
                    self.blocks.enter(block, Phase::Victim);
                    recovery.erase.push(block);
                }
            }
            self.sort_blocks(flash, plane, 0);
        }
        recovery
    }
    /// Returns the number of pages read to determine the content of a block. If its summary is
    /// readable, these are the pages of the summary. Otherwise they are all programmed pages, or
    /// one page if none is programmed; if blocks have summaries, the last page is tried first.
    /// Count.
    fn reads_of(&self, flash: &Flash<'_>, block: Block) -> u64 {
        let summaries = self.plan.summaries;
        let scan = u64::from(flash.array.programmed(block).max(1));
        if !summaries.exist() {
            return scan;
        }
        if flash.is_summarized(block, summaries) {
            return u64::from(summaries.pages);
        }
        1 + scan
    }
    fn blocks_of(&self, plane: Plane) -> impl Iterator<Item = Block> + use<> {
        let layout = self.layout;
        (0..layout.blocks_per_plane).map(move |block| layout.block(plane, block))
    }

    /// Rebuilds the map from spare areas: maps each page to the copy that [`Latest::decide`]
    /// selects. Returns the placement number of that copy for each page.
    pub(in crate::mapping) fn reread(
        &mut self,
        flash: &Flash<'_>,
        recovery: &mut Recovery,
    ) -> Vec<u64> {
        self.free_blocks = 0;
        self.unwritten = self.user_pages();
        let user_pages = self.plan.user_pages;
        let mut latest = Latest::new(self.map.len());
        let mut spent = Vec::new();
        for block in (0..self.layout.blocks()).map(Block) {
            recovery.pages_read += u64::from(flash.array.programmed(block).max(1));
            let mut of_host = true;
            for (place, tag) in flash.pages(block) {
                let Some(tag) = tag else {
                    continue;
                };
                let page = match tag.owner {
                    PageOwner::Host(page) => page.0,
                    PageOwner::Metadata(label) => user_pages.saturating_add(label),
                };
                of_host &= page < user_pages;
                if (page as usize) < self.map.len() {
                    self.owners.set(place, Lpn(page));
                    latest.note(page, place, tag);
                }
            }
            if of_host && flash.array.programmed(block) > 0 {
                spent.push(block);
            }
        }
        let mut orders = vec![0; self.map.len()];
        for (page, place, order) in latest.decide(flash) {
            orders[page as usize] = order;
            self.map.set(Lpn(page), place);
            self.blocks.gain(self.layout.block_of(place), place);
        }
        // The blocks are neither free nor owned until they are erased.
        spent.retain(|block| self.blocks.valid(*block) == 0);
        for block in &spent {
            self.blocks.enter(*block, Phase::Victim);
        }
        recovery.erase = spent;
        orders
    }

    /// Determines which blocks of a plane are free, open or full. Up to `kept` free blocks are
    /// reserved for metadata, but none of the GC reserve. Metadata blocks and blocks to be
    /// erased are not changed.
    pub(in crate::mapping) fn sort_blocks(&mut self, flash: &Flash<'_>, plane: Plane, kept: u32) {
        while self.free.take(plane).is_some() {}
        let mut open = Vec::new();
        let mut free = 0_u32;
        let layout = self.layout;
        for block in (0..layout.blocks_per_plane).map(|block| layout.block(plane, block)) {
            let programmed = flash.array.programmed(block);
            let erases = flash.array.erases()[block.index()];
            if programmed > 0 {
                self.free.in_use(plane, block, erases);
            }
            if matches!(self.blocks.phase(block), Phase::Metadata | Phase::Victim) {
                continue;
            }
            if programmed == 0 && self.restore_dedicated(plane, block) {
            } else if programmed == 0 {
                self.free.erased(plane, block, erases);
                free += 1;
            } else if programmed < self.data_pages() && !self.is_single_level(block) {
                open.push((block, programmed));
            } else {
                self.close(plane, block);
            }
        }
        let kept = kept.min(free.saturating_sub(self.reserve_blocks));
        self.planes[plane.index()].free = free - kept;
        self.planes[plane.index()].kept = kept;
        self.free_blocks += free - kept;
        self.reopen(plane, &open);
    }

    /// Reopens blocks that have room, for the host and for GC, and closes the others. The host gets
    /// the first such block, unless the plane is below its reserve, which means that a GC run had
    /// opened it.
    fn reopen(&mut self, plane: Plane, open: &[(Block, u32)]) {
        let short = self.planes[plane.index()].free < self.reserve_blocks;
        let own = self.collection;
        let order = if short {
            [own, Writer::Host]
        } else {
            [Writer::Host, own]
        };
        for (turn, &(block, programmed)) in open.iter().enumerate() {
            if turn > own as usize {
                self.close(plane, block);
            } else {
                self.activate(plane, order[turn], block, programmed);
            }
        }
    }
}
