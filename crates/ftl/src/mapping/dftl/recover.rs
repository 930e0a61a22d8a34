//! Recovery of a map in flash after a power cut.

use wordline_nand::{Block, Plane, Ppn};

use super::DftlMap;
use super::area::Area;
use crate::block::Phase;
use crate::lpn::Lpn;
use crate::mapping::Mapping;
use crate::recovery::{Flash, PageOwner, Recovery};

impl DftlMap {
    /// Returns `true` if the block contains translation pages.
    pub(super) fn is_of_map(&self, block: Block) -> bool {
        self.pages.blocks.phase(block) == Phase::Metadata
    }

    /// Rebuilds the map from the latest copies of pages and translation pages. If a page was
    /// programmed after the latest copy of its translation page, its entry differs from the
    /// translation page and is put into the cache.
    pub(super) fn read_again(&mut self, flash: &Flash<'_>) -> Recovery {
        let counts = self.cache.counts;
        *self = Self::new(&self.plan.clone(), self.shape);
        self.cache.counts = counts;
        let mut recovery = Recovery::default();
        let orders = self.pages.reread(flash, &mut recovery);
        for plane in (0..self.layout().planes()).map(Plane) {
            self.areas[plane.index()] = self.find_area(flash, plane);
            let missing = self
                .shape
                .blocks
                .saturating_sub(self.areas[plane.index()].blocks());
            self.pages.sort_blocks(flash, plane, missing);
        }
        for page in 0..self.user_pages {
            let label = self.label(page);
            let order = |page: u32| orders[page as usize];
            let written = self
                .directory(label)
                .map(|_| order(self.user_pages + label));
            if self.lookup(Lpn(page)).is_some()
                && written.is_none_or(|written| written < order(page))
            {
                self.cache.change(page);
            }
        }
        recovery
    }

    /// Returns the translation blocks found in a plane. A block that is not full continues to take
    /// programs.
    fn find_area(&mut self, flash: &Flash<'_>, plane: Plane) -> Area {
        let layout = self.layout();
        let mut full = Vec::new();
        let mut open = None;
        for block in (0..layout.blocks_per_plane).map(|block| layout.block(plane, block)) {
            let tag = flash.pages(block).find_map(|(_, tag)| tag);
            if !matches!(tag.map(|tag| tag.owner), Some(PageOwner::Metadata(_))) {
                continue;
            }
            self.pages.blocks.enter(block, Phase::Metadata);
            let programmed = flash.array.programmed(block);
            if programmed < layout.pages_per_block && open.is_none() {
                let first = layout.page(block, 0).0;
                open = Some((Ppn(first + programmed), first + layout.pages_per_block));
            } else {
                full.push(block);
            }
        }
        Area::found(full, open)
    }
}
