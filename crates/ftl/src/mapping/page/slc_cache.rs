//! Blocks in single-level mode, which take host pages and are folded later.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use wordline_nand::{Block, Layout, Plane, Ppn};

use super::{Active, PageMap, Writer};
use crate::block::Phase;
use crate::job::{Collection, GcKind};
use crate::mapping::Mapping;
use crate::plan::Plan;
use crate::recovery::Flash;
use crate::slc_cache::Caches;
use crate::wear::Spend;

/// SLC cache of a device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Cache {
    /// Number of pages of a block in single-level mode, which uses the first pages.
    pages: u32,
    /// Number of dedicated blocks per plane, which are the first blocks of the plane.
    dedicated: u32,
    /// Maximum number of blocks that a plane lends.
    most_lent: u32,
    /// Whether host pages bypass the cache.
    bypassed: bool,
    /// Bit per block, set if the block is not free and is in single-level mode.
    #[serde(with = "wordline_kernel::dense")]
    single: Vec<u64>,
    planes: Vec<CachePlane>,
}

/// State of the SLC cache on a plane.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct CachePlane {
    /// Free dedicated blocks.
    free: VecDeque<Block>,
    /// Full blocks that wait to be folded, the oldest first.
    full: VecDeque<Block>,
    /// Number of lent blocks.
    lent: u32,
}

impl Cache {
    /// Creates the SLC cache of a plan, or returns `None` if the plan has no SLC cache.
    fn new(plan: &Plan) -> Option<Box<Self>> {
        let size = plan.config.slc_cache.size()?;
        let layout = &plan.layout;
        Some(Box::new(Self {
            pages: plan.slc_pages,
            dedicated: size.dedicated(layout.blocks_per_plane),
            most_lent: size.lent(layout.blocks_per_plane),
            bypassed: false,
            single: vec![0; layout.blocks().div_ceil(u64::BITS) as usize],
            planes: vec![CachePlane::default(); layout.planes() as usize],
        }))
    }
    pub(super) fn is_single(&self, block: Block) -> bool {
        self.single[block.index() / 64] >> (block.index() % 64) & 1 != 0
    }
    fn set_single(&mut self, block: Block, single: bool) {
        let bit = 1 << (block.index() % 64);
        let word = &mut self.single[block.index() / 64];
        *word = if single { *word | bit } else { *word & !bit };
    }
    fn is_dedicated(&self, layout: &Layout, block: Block) -> bool {
        let of_plane = block.0 / layout.planes();
        of_plane < self.dedicated
    }
    /// Returns the number of free dedicated blocks of a plane.
    pub(super) fn free(&self, plane: Plane) -> u32 {
        self.planes[plane.index()].free.len() as u32
    }
    /// Returns the number of blocks of a plane that wait to be folded.
    pub(super) fn full(&self, plane: Plane) -> u32 {
        self.planes[plane.index()].full.len() as u32
    }
}

impl PageMap {
    /// Adds the SLC cache to a map without blocks in use. Dedicated blocks are removed from the
    /// free blocks.
    pub(super) fn with_cache(mut self) -> Self {
        let Some(mut cache) = Cache::new(&self.plan) else {
            return self;
        };
        for plane in (0..self.layout.planes()).map(Plane) {
            for number in 0..cache.dedicated {
                let block = self.free.take(plane);
                debug_assert_eq!(block, Some(self.layout.block(plane, number)));
                cache.planes[plane.index()].free.extend(block);
            }
            self.planes[plane.index()].free -= cache.dedicated;
            self.free_blocks -= cache.dedicated;
        }
        self.cache = Some(cache);
        self
    }

    /// Returns `true` if host pages may go to the cache.
    pub(super) fn caches(&self) -> bool {
        self.cache.as_ref().is_some_and(|cache| !cache.bypassed)
    }
    /// Implements [`Mapping::bypass_cache`].
    pub(super) fn set_bypass(&mut self, bypassed: bool) {
        if let Some(cache) = &mut self.cache {
            cache.bypassed = bypassed;
            self.turn_all_to_cache();
        }
    }
    /// Directs the host to the cache on every plane where the cache has room.
    pub(super) fn turn_all_to_cache(&mut self) {
        for plane in (0..self.layout.planes()).map(Plane) {
            self.turn_to_cache(plane);
        }
    }
    /// Directs the host of a plane to the cache, if the cache has room again, and sets the host's
    /// normal block aside.
    #[inline(never)]
    pub(super) fn turn_to_cache(&mut self, plane: Plane) {
        let Some(cache) = self.cache.as_ref() else {
            return;
        };
        let state = &self.planes[plane.index()];
        let active = state.active[Writer::Host as usize];
        if active.is_full() || cache.is_single(active.block) || !self.has_cached(plane) {
            return;
        }
        let active = &mut self.planes[plane.index()].active;
        debug_assert!(active[Writer::Direct as usize].is_full());
        active.swap(Writer::Host as usize, Writer::Direct as usize);
        active[Writer::Host as usize] = Active::default();
    }
    /// Directs the host back to its normal block. Returns `false` if none is set aside.
    fn return_to_direct(&mut self, plane: Plane) -> bool {
        let active = &mut self.planes[plane.index()].active;
        if active[Writer::Direct as usize].is_full() {
            return false;
        }
        active.swap(Writer::Host as usize, Writer::Direct as usize);
        active[Writer::Direct as usize] = Active::default();
        true
    }
    /// Returns `true` if [`Self::open_cached`] would open a block.
    fn has_cached(&self, plane: Plane) -> bool {
        let Some(cache) = self.cache.as_ref().filter(|cache| !cache.bypassed) else {
            return false;
        };
        let (of_plane, state) = (&cache.planes[plane.index()], &self.planes[plane.index()]);
        let lends = of_plane.lent < cache.most_lent && state.free > self.start_blocks;
        !of_plane.free.is_empty() || lends
    }
    /// Returns `true` if a block that is not free is in single-level mode.
    pub(super) fn is_single_level(&self, block: Block) -> bool {
        self.cache
            .as_ref()
            .is_some_and(|cache| cache.is_single(block))
    }

    /// Opens a cache block for the host, or returns to the normal block that was set aside. Returns
    /// `false` if there is neither.
    #[inline(never)]
    pub(super) fn open_for_host(&mut self, plane: Plane) -> bool {
        self.open_cached(plane) || self.return_to_direct(plane)
    }
    /// Opens a cache block for the host, dedicated blocks first. Returns `false` if there is none.
    fn open_cached(&mut self, plane: Plane) -> bool {
        let Some(cache) = self.cache.as_mut().filter(|cache| !cache.bypassed) else {
            return false;
        };
        let of_plane = &mut cache.planes[plane.index()];
        let state = &mut self.planes[plane.index()];
        let block = if let Some(block) = of_plane.free.pop_front() {
            block
        } else if of_plane.lent < cache.most_lent
            && state.free > self.start_blocks
            && let Some(block) = self.free.take(plane)
        {
            of_plane.lent += 1;
            state.free -= 1;
            self.free_blocks -= 1;
            block
        } else {
            return false;
        };
        cache.set_single(block, true);
        let (next, end) = (
            self.layout.page(block, 0),
            self.layout.page(block, cache.pages),
        );
        self.unwritten = self.user_pages();
        self.blocks.enter(block, Phase::Active);
        self.blocks.expect(block, next, end);
        self.planes[plane.index()].active[Writer::Host as usize] = Active {
            block,
            next: next.0,
            end: end.0,
        };
        true
    }

    /// Closes a full block if it is a cache block. Returns `false` otherwise.
    #[inline(never)]
    pub(super) fn close_cached(&mut self, plane: Plane, block: Block) -> bool {
        let Some(cache) = self.cache.as_mut().filter(|cache| cache.is_single(block)) else {
            return false;
        };
        self.blocks.enter(block, Phase::Cached);
        cache.planes[plane.index()].full.push_back(block);
        true
    }

    /// Handles the erase of a block. Returns `true` if the block is dedicated to the cache, so that
    /// it is not free for other uses.
    #[inline(never)]
    pub(super) fn erased_cached(&mut self, plane: Plane, block: Block) -> bool {
        let Some(cache) = &mut self.cache else {
            return false;
        };
        let dedicated = cache.is_dedicated(&self.layout, block);
        if cache.is_single(block) {
            cache.set_single(block, false);
            if !dedicated {
                cache.planes[plane.index()].lent -= 1;
            }
        }
        if dedicated {
            cache.planes[plane.index()].free.push_back(block);
        }
        dedicated
    }

    /// Returns `true` if a block of a plane waits to be folded, and the plane has no GC run and
    /// enough free blocks.
    pub(super) fn may_fold(&self, plane: Plane) -> bool {
        let Some(cache) = &self.cache else {
            return false;
        };
        let state = &self.planes[plane.index()];
        cache.full(plane) > 0 && state.victim.is_none() && state.free > self.reserve_blocks
    }
    /// Returns `true` if folding frees blocks of a plane: one of its full cache blocks is lent, and
    /// the plane has no GC run.
    pub(super) fn folding_frees(&self, plane: Plane) -> bool {
        let Some(cache) = &self.cache else {
            return false;
        };
        let state = &self.planes[plane.index()];
        let is_lent = |block: &Block| !cache.is_dedicated(&self.layout, *block);
        state.victim.is_none() && cache.planes[plane.index()].full.iter().any(is_lent)
    }

    /// Implements [`Mapping::fold`].
    pub(super) fn start_fold(&mut self, plane: Plane) -> Option<Collection> {
        if !self.may_fold(plane) {
            return None;
        }
        let cache = self.cache.as_mut()?;
        let block = cache.planes[plane.index()].full.pop_front()?;
        Some(self.start_on(plane, block, GcKind::Fold, self.collection))
    }
    /// Folds the oldest full lent block to gain space. Folding takes less than one block of the
    /// reserve and frees one block.
    #[inline(never)]
    pub(super) fn start_return(&mut self, plane: Plane) -> Option<Collection> {
        if !self.folding_frees(plane) {
            return None;
        }
        let cache = self.cache.as_mut()?;
        let full = &cache.planes[plane.index()].full;
        let is_lent = |block: &Block| !cache.is_dedicated(&self.layout, *block);
        let oldest = full.iter().position(is_lent)?;
        let block = cache.planes[plane.index()].full.remove(oldest)?;
        Some(self.start_on(plane, block, GcKind::Fold, self.collection))
    }
    /// Removes a cache block without valid pages from the blocks to be folded, because it will be
    /// erased.
    pub(super) fn withdraw_cached(&mut self, plane: Plane, block: Block) {
        if let Some(cache) = &mut self.cache {
            cache.planes[plane.index()]
                .full
                .retain(|other| *other != block);
        }
    }

    /// Restores the blocks in single-level mode from flash, during recovery.
    pub(super) fn restore_cache(&mut self, flash: &Flash<'_>) {
        let Some(cache) = &mut self.cache else {
            return;
        };
        for of_plane in &mut cache.planes {
            *of_plane = CachePlane::default();
        }
        for block in (0..self.layout.blocks()).map(Block) {
            let single = flash.array.programmed(block) > 0 && flash.array.is_single_level(block);
            cache.set_single(block, single);
            if single && !cache.is_dedicated(&self.layout, block) {
                let plane = self.layout.plane_of(block);
                cache.planes[plane.index()].lent += 1;
            }
        }
    }
    /// Restores a free dedicated block during recovery. Returns `false` if the block is not
    /// dedicated.
    pub(super) fn restore_dedicated(&mut self, plane: Plane, block: Block) -> bool {
        let Some(cache) = &mut self.cache else {
            return false;
        };
        let dedicated = cache.is_dedicated(&self.layout, block);
        if dedicated {
            cache.planes[plane.index()].free.push_back(block);
        }
        dedicated
    }

    /// Checks the pages and blocks of the cache for consistency.
    pub(super) fn audit_cache(&self, plane: Plane) -> Result<(), String> {
        let Some(cache) = &self.cache else {
            return Ok(());
        };
        let layout = &self.layout;
        let blocks = || (0..layout.blocks_per_plane).map(|block| layout.block(plane, block));
        let lent = blocks()
            .filter(|block| cache.is_single(*block) && !cache.is_dedicated(layout, *block))
            .count() as u32;
        let of_plane = &cache.planes[plane.index()];
        let beyond = blocks()
            .filter(|block| cache.is_single(*block))
            .any(|block| {
                let (first, end) = (cache.pages, layout.pages_per_block);
                let (first, end) = (layout.page(block, first), layout.page(block, end));
                self.blocks.next_valid(first, Ppn(end.0)).is_some()
            });
        if lent != of_plane.lent || beyond {
            return Err(format!(
                "plane {}: {lent} lent blocks of the SLC cache, but the counter is {}; pages beyond those of single-level mode: {beyond}",
                plane.0, of_plane.lent
            ));
        }
        Ok(())
    }
}
