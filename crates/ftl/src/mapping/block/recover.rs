//! Recovery of block mapping: rebuilds the map from spare areas.

use wordline_nand::{Block, Plane};

use super::{BlockMap, LogicalBlock};
use crate::mapping::Mapping;
use crate::recovery::{Flash, PageOwner, Recovery, SpareRecord};
use crate::wear::Spend;

/// Block with at least one readable page, and the placement numbers of its first and last readable
/// page.
#[derive(Clone, Copy, Debug)]
struct Found {
    logical: LogicalBlock,
    block: Block,
    first: u64,
    last: u64,
}

impl BlockMap {
    fn owner(&self, tag: SpareRecord) -> LogicalBlock {
        match tag.owner {
            PageOwner::Host(page) => self.split(page).0,
            PageOwner::Metadata(label) => LogicalBlock(label),
        }
    }

    /// Identifies the logical block to which a block belongs, which filler pages also record.
    /// Returns `None` if no page of the block is readable.
    fn identify(&self, flash: &Flash<'_>, block: Block) -> Option<Found> {
        let mut tags = flash.pages(block).filter_map(|(_, tag)| tag);
        let first = tags.next()?;
        let last = tags.last().unwrap_or(first);
        let logical = self.owner(first);
        ((logical.0 as usize) < self.homes.len()).then_some(Found {
            logical,
            block,
            first: first.order,
            last: last.order,
        })
    }

    /// Rebuilds the map from spare areas. Marks blocks without a readable page for erase.
    pub(super) fn reread(&mut self, flash: &Flash<'_>) -> Recovery {
        let mut recovery = Recovery::default();
        let mut found = Vec::new();
        self.free_blocks = 0;
        for plane in (0..self.layout.planes()).map(Plane) {
            while self.free.take(plane).is_some() {}
            self.planes[plane.index()].free = 0;
        }
        for block in (0..self.layout.blocks()).map(Block) {
            recovery.pages_read += u64::from(flash.array.programmed(block).max(1));
            if flash.array.programmed(block) == 0 {
                self.is_free(block, flash.array.erases()[block.index()]);
                continue;
            }
            let erases = flash.array.erases()[block.index()];
            self.free.in_use(self.layout.plane_of(block), block, erases);
            match self.identify(flash, block) {
                Some(found_block) => found.push(found_block),
                None => recovery.erase.push(block),
            }
        }
        self.assemble(flash, found, &mut recovery);
        recovery
    }

    /// Assigns the found blocks to logical blocks.
    fn assemble(&mut self, flash: &Flash<'_>, mut found: Vec<Found>, recovery: &mut Recovery) {
        found.sort_by_key(|found| (found.logical, found.first));
        let mut open = Vec::new();
        for group in found.chunk_by(|one, other| one.logical == other.logical) {
            let mut blocks: Vec<Block> = group.iter().map(|found| found.block).collect();
            self.drop_copy(flash, &mut blocks, recovery);
            self.settle(flash, group[0].logical, &blocks);
            if blocks.len() > 1 {
                open.push((group[1].last, group[1].logical));
            }
        }
        open.sort_unstable();
        for (_, logical) in open {
            let plane = self.plane_of(logical);
            self.planes[plane.index()].open += 1;
            self.recent.push_back(plane.index(), logical.0);
        }
    }

    /// Removes the newest block of a logical block, and marks it for erase, if the older blocks
    /// contain the same version of each of its pages.
    fn drop_copy(&self, flash: &Flash<'_>, blocks: &mut Vec<Block>, recovery: &mut Recovery) {
        let Some((last, older)) = blocks.split_last() else {
            return;
        };
        let version = |block: Block, offset| {
            let tag = flash.tag(self.layout.page(block, offset))?;
            self.is_host(flash, block, offset).then_some(tag.sequence)
        };
        let is_copy = |offset| {
            let copied = version(*last, offset);
            copied.is_none() || older.iter().any(|&block| version(block, offset) == copied)
        };
        if !older.is_empty() && (0..flash.array.programmed(*last)).all(is_copy) {
            recovery.erase.push(*last);
            blocks.pop();
        }
    }

    /// Assigns the blocks of a logical block, oldest first: the data block, then the replacement
    /// block, which continues to take programs. If a page of the replacement block cannot be read
    /// but is still in the data block, the page cannot be programmed again at its offset. The
    /// replacement block then becomes a head.
    fn settle(&mut self, flash: &Flash<'_>, logical: LogicalBlock, blocks: &[Block]) {
        let pages = self.layout.pages_per_block;
        for block in blocks {
            self.owners[block.index()] = logical.0 + 1;
        }
        match *blocks {
            [data] => {
                let home = self.home_mut(logical);
                home.data = Some(data);
                home.next = flash.array.programmed(data);
            }
            [data, replacement, ..] => {
                let lost = self.lost(flash, data, replacement);
                let home = self.home_mut(logical);
                home.data = Some(data);
                if let Some(offset) = lost {
                    home.head = Some(replacement);
                    home.head_pages = offset;
                    home.next = pages;
                } else {
                    home.replacement = Some(replacement);
                    home.next = flash.array.programmed(replacement);
                }
            }
            [] => {}
        }
        self.revive(flash, logical);
    }

    fn is_host(&self, flash: &Flash<'_>, block: Block, offset: u32) -> bool {
        let tag = flash.tag(self.layout.page(block, offset));
        tag.is_some_and(|tag| matches!(tag.owner, PageOwner::Host(_)))
            && offset < flash.array.programmed(block)
    }

    /// Returns the first offset at which the replacement block cannot be read and the data block
    /// still has the page.
    fn lost(&self, flash: &Flash<'_>, data: Block, replacement: Block) -> Option<u32> {
        (0..flash.array.programmed(replacement)).find(|&offset| {
            let page = self.layout.page(replacement, offset);
            flash.tag(page).is_none() && self.is_host(flash, data, offset)
        })
    }

    /// Restores the valid pages of a logical block. A filler page in the replacement block stands
    /// for a page that was trimmed or never written.
    fn revive(&mut self, flash: &Flash<'_>, logical: LogicalBlock) {
        for offset in 0..self.layout.pages_per_block {
            let page = self.page(logical, offset);
            let holder = self.home(logical).holder(offset);
            if page.0 < self.user_pages()
                && holder.is_some_and(|block| self.is_host(flash, block, offset))
            {
                self.set_valid(page, true);
            }
        }
    }
}
