//! Consistency check of the tables of page mapping.

use wordline_nand::{Block, Plane};

use super::slc_cache::Cache;
use super::{Active, PageMap};
use crate::block::Phase;

impl PageMap {
    /// Checks that the map, the owners and the counters agree.
    pub(super) fn audit_books(&self) -> Result<(), String> {
        let mut valid = vec![0_u32; self.layout.blocks() as usize];
        let active = self.planes.iter().flat_map(|plane| &plane.active);
        for active in active.chain(&self.in_step) {
            valid[active.block.index()] += active.end - active.next;
        }
        for (page, place) in self.map.iter() {
            if self.owners.get(place) != Some(page) || !self.blocks.is_valid(place) {
                return Err(format!(
                    "page {} maps to {}, which another page owns or which is marked as invalid",
                    page.0,
                    self.layout.describe(place)
                ));
            }
            valid[self.layout.block_of(place).index()] += 1;
        }
        for (block, &count) in valid.iter().enumerate() {
            let block = Block(block as u32);
            let (valid, phase) = (self.blocks.valid(block), self.blocks.phase(block));
            if valid != count || (phase == Phase::Free && count > 0) {
                let block = self.layout.describe_block(block);
                return Err(format!(
                    "{block} holds {count} valid pages, but the counter is {valid} in phase {phase:?}"
                ));
            }
        }
        let free: u32 = self.planes.iter().map(|plane| plane.free).sum();
        if free != self.free_blocks {
            return Err(format!(
                "the planes have {free} free blocks, but the counter is {}",
                self.free_blocks
            ));
        }
        (0..self.layout.planes()).try_for_each(|plane| self.audit_plane(Plane(plane)))
    }

    fn audit_plane(&self, plane: Plane) -> Result<(), String> {
        let mut blocks = [0; 7];
        let mut stale = 0;
        for block in (0..self.layout.blocks_per_plane).map(|block| self.layout.block(plane, block))
        {
            let phase = self.blocks.phase(block);
            blocks[phase as usize] += 1;
            if phase == Phase::Closed {
                stale += self.data_pages() - self.blocks.valid(block);
            }
        }
        let state = &self.planes[plane.index()];
        let open = |active: &&Active| active.next < active.end;
        let in_step = self.in_step.get(plane.index());
        let active = state.active.iter().chain(in_step).filter(open).count() as u32;
        let [free, found_active, _, victims, .., cached] = blocks;
        let found = [free, found_active, victims, stale, cached];
        let of_cache = |count: fn(&Cache, Plane) -> u32| {
            let cache = self.cache.as_ref();
            cache.map_or(0, |cache| count(cache, plane))
        };
        let booked = [
            state.free + state.kept + of_cache(Cache::free),
            active,
            state.victim.is_some().into(),
            state.stale,
            of_cache(Cache::full),
        ];
        if found == booked {
            return self.audit_cache(plane);
        }
        Err(format!(
            "plane {}: free blocks, active blocks, victims, invalid pages in closed blocks and full blocks of the cache are \
             {found:?}, but the counters are {booked:?}",
            plane.0
        ))
    }
}
