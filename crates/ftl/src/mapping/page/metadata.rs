//! Blocks reserved for metadata.

use wordline_nand::{Block, Plane, Ppn};

use super::PageMap;
use crate::block::Phase;
use crate::lpn::Lpn;
use crate::mapping::Mapping;
use crate::wear::Spend;

impl PageMap {
    /// Returns the number of free blocks of a plane that are reserved for metadata.
    pub(in crate::mapping) fn kept(&self, plane: Plane) -> u32 {
        self.planes[plane.index()].kept
    }
    /// Reserves another free block of a plane. Returns `false` if that would use the GC reserve.
    pub(in crate::mapping) fn keep(&mut self, plane: Plane) -> bool {
        if !self.may_keep(plane) {
            return false;
        }
        let state = &mut self.planes[plane.index()];
        state.free -= 1;
        state.kept += 1;
        self.free_blocks -= 1;
        true
    }
    /// Takes a reserved block of a plane, which must have one.
    pub(in crate::mapping) fn open_kept(&mut self, plane: Plane) -> Block {
        let block = self.free.take(plane);
        let block = block.unwrap_or_else(|| unreachable!("the plane has a free block"));
        self.planes[plane.index()].kept -= 1;
        self.blocks.enter(block, Phase::Metadata);
        block
    }
    /// Returns `true` if [`Self::keep`] would reserve a block.
    pub(in crate::mapping) fn may_keep(&self, plane: Plane) -> bool {
        self.planes[plane.index()].free > self.reserve_blocks
    }
    /// Records the program of a metadata page, given by its number in the map, at `place`.
    pub(in crate::mapping) fn put_metadata(&mut self, page: u32, place: Ppn) {
        if let Some(old) = self.lookup(Lpn(page)) {
            self.invalidate(old);
        }
        self.owners.set(place, Lpn(page));
        self.map.set(Lpn(page), place);
        self.blocks.gain(self.layout.block_of(place), place);
    }
    /// Allocates a metadata page, which must not have a location yet, in the active block to which
    /// the plane's GC run moves pages. There is room if the victim has one page that is not moved
    /// for each metadata page.
    pub(in crate::mapping) fn append_metadata(&mut self, plane: Plane, page: Lpn) -> Ppn {
        debug_assert_eq!(
            self.lookup(page),
            None,
            "page {} already has a location",
            page.0
        );
        let victim = self.planes[plane.index()].victim;
        let writer = victim.map_or(self.collection, |victim| victim.writer);
        if self.planes[plane.index()].active[writer as usize].is_full() {
            self.open(plane, writer);
        }
        let active = &mut self.planes[plane.index()].active[writer as usize];
        let (place, block) = (Ppn(active.next), active.block);
        active.next += 1;
        let is_full = active.is_full();
        self.owners.set(place, page);
        self.map.set(page, place);
        if is_full {
            self.close(plane, block);
        }
        place
    }
    /// Handles the erase of a metadata block, which now has `erases` erases. The block is reserved
    /// again (`kept`) or free.
    pub(in crate::mapping) fn metadata_erased(&mut self, block: Block, erases: u32, kept: bool) {
        self.blocks.enter(block, Phase::Free);
        let plane = self.layout.plane_of(block);
        let state = &mut self.planes[plane.index()];
        if kept {
            state.kept += 1;
        } else {
            state.free += 1;
            self.free_blocks += 1;
        }
        self.free.erased(plane, block, erases);
    }
}
