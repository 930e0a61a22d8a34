//! Blocks in single-level mode: those that take the host's pages, and those that are folded.

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

/// The SLC cache of a device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Cache {
    /// Pages of a block in single-level mode: its first ones.
    pages: u32,
    /// Dedicated blocks of a plane: its first ones.
    dedicated: u32,
    /// Blocks that a plane lends at most.
    most_lent: u32,
    /// Whether the host's pages pass the cache by.
    bypassed: bool,
    /// By block, a bit that says whether it is in single-level mode; of blocks that are not free.
    #[serde(with = "wordline_kernel::dense")]
    single: Vec<u64>,
    planes: Vec<CachePlane>,
}

/// What a plane has of the cache.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct CachePlane {
    /// Free dedicated blocks.
    free: VecDeque<Block>,
    /// Blocks without room, in the order in which they are folded.
    full: VecDeque<Block>,
    /// Blocks that are lent.
    lent: u32,
}

impl Cache {
    /// None if the plan has no cache.
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
    /// Free dedicated blocks of a plane.
    pub(super) fn free(&self, plane: Plane) -> u32 {
        self.planes[plane.index()].free.len() as u32
    }
    /// Blocks of a plane that wait for being folded.
    pub(super) fn full(&self, plane: Plane) -> u32 {
        self.planes[plane.index()].full.len() as u32
    }
}

impl PageMap {
    /// Sets the cache up over a map that has no block in use: the dedicated blocks leave the free ones.
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

    /// Whether pages of the host may go to the cache.
    pub(super) fn caches(&self) -> bool {
        self.cache.as_ref().is_some_and(|cache| !cache.bypassed)
    }
    /// See [`Mapping::bypass_cache`].
    pub(super) fn set_bypass(&mut self, bypassed: bool) {
        if let Some(cache) = &mut self.cache {
            cache.bypassed = bypassed;
            self.turn_all_to_cache();
        }
    }
    /// Wherever the host could write to the cache, it does.
    pub(super) fn turn_all_to_cache(&mut self) {
        for plane in (0..self.layout.planes()).map(Plane) {
            self.turn_to_cache(plane);
        }
    }
    /// The cache may have room again: if it has, the host's block past it is laid aside.
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
    /// The host goes on with its block past the cache, if one is laid aside.
    fn return_to_direct(&mut self, plane: Plane) -> bool {
        let active = &mut self.planes[plane.index()].active;
        if active[Writer::Direct as usize].is_full() {
            return false;
        }
        active.swap(Writer::Host as usize, Writer::Direct as usize);
        active[Writer::Direct as usize] = Active::default();
        true
    }
    /// Whether [`Self::open_cached`] would open a block.
    fn has_cached(&self, plane: Plane) -> bool {
        let Some(cache) = self.cache.as_ref().filter(|cache| !cache.bypassed) else {
            return false;
        };
        let (of_plane, state) = (&cache.planes[plane.index()], &self.planes[plane.index()]);
        let lends = of_plane.lent < cache.most_lent && state.free > self.start_blocks;
        !of_plane.free.is_empty() || lends
    }
    /// Whether a block that is not free is in single-level mode.
    pub(super) fn is_single_level(&self, block: Block) -> bool {
        self.cache
            .as_ref()
            .is_some_and(|cache| cache.is_single(block))
    }

    /// Opens a block of the cache for the host, or goes on with the one past it; false if there is neither.
    #[inline(never)]
    pub(super) fn open_for_host(&mut self, plane: Plane) -> bool {
        self.open_cached(plane) || self.return_to_direct(plane)
    }
    /// Opens a block of the cache for the host, if there is one; a dedicated one first.
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

    /// A block of the cache has no room any more: true if it is one.
    #[inline(never)]
    pub(super) fn close_cached(&mut self, plane: Plane, block: Block) -> bool {
        let Some(cache) = self.cache.as_mut().filter(|cache| cache.is_single(block)) else {
            return false;
        };
        self.blocks.enter(block, Phase::Cached);
        cache.planes[plane.index()].full.push_back(block);
        true
    }

    /// A block of the cache is erased: true if it is a dedicated one, which is not free for others.
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

    /// Whether a block waits for being folded on a plane that collects nothing and has the room.
    pub(super) fn may_fold(&self, plane: Plane) -> bool {
        let Some(cache) = &self.cache else {
            return false;
        };
        let state = &self.planes[plane.index()];
        cache.full(plane) > 0 && state.victim.is_none() && state.free > self.reserve_blocks
    }
    /// Whether folding is what frees blocks of a plane: a full block of the cache is a lent one.
    pub(super) fn folding_frees(&self, plane: Plane) -> bool {
        let Some(cache) = &self.cache else {
            return false;
        };
        let state = &self.planes[plane.index()];
        let is_lent = |block: &Block| !cache.is_dedicated(&self.layout, *block);
        state.victim.is_none() && cache.planes[plane.index()].full.iter().any(is_lent)
    }

    /// See [`Mapping::fold`].
    pub(super) fn start_fold(&mut self, plane: Plane) -> Option<Collection> {
        if !self.may_fold(plane) {
            return None;
        }
        let cache = self.cache.as_mut()?;
        let block = cache.planes[plane.index()].full.pop_front()?;
        Some(self.start_on(plane, block, GcKind::Fold, self.collection))
    }
    /// Folds the oldest lent block, for its room. It takes less than a block of the reserve and frees one.
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
    /// A block of the cache that holds nothing is to be erased: it does not wait for being folded any more.
    pub(super) fn withdraw_cached(&mut self, plane: Plane, block: Block) {
        if let Some(cache) = &mut self.cache {
            cache.planes[plane.index()]
                .full
                .retain(|other| *other != block);
        }
    }

    /// The blocks in single-level mode as the flash has them; for books that are built anew.
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
    /// A free dedicated block is at hand again: true if it is one. For books that are built anew.
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

    /// Pages of the cache that are programmed or will be, and its blocks; for verification.
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
                "plane {}: {lent} lent blocks of the SLC cache, the counts say {}; a page beyond those of single-level mode: {beyond}",
                plane.0, of_plane.lent
            ));
        }
        Ok(())
    }
}
