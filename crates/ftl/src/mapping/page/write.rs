//! Programs of page mapping: they take pages of active blocks and supersede older copies.

use wordline_nand::{Block, Plane, Ppn};

use super::{Active, PageMap, Writer};
use crate::allocate::PlanePolicy;
use crate::block::Phase;
use crate::gc::victim::VictimPolicy;
use crate::lpn::Lpn;
use crate::mapping::{Mapping, Placed};
use crate::wear::Spend;

/// Host page to which a physical page has been allocated.
#[derive(Clone, Copy)]
pub(super) struct Put {
    pub placed: Placed,
    /// Whether a bulk write ends with this page: it took a free block, or its plane may need GC.
    pub ends_row: bool,
}

impl PageMap {
    /// Allocates a physical page of `plane` for a host page. Returns `None` if there is no room.
    /// `home` states whether the host page has never been on another plane.
    #[inline(always)]
    pub(super) fn put(&mut self, page: Lpn, plane: Plane, home: bool) -> Option<Put> {
        let shared = self.collection == Writer::Host;
        let mut state = &mut self.planes[plane.index()];
        // With at least `rest_blocks` free blocks, there is room and GC is not needed.
        let mut ends_row = state.free < self.rest_blocks;
        if ends_row && !state.has_room(self.reserve_blocks, shared) {
            return None;
        }
        if state.active[Writer::Host as usize].is_full() {
            self.open(plane, Writer::Host);
            ends_row = true;
            state = &mut self.planes[plane.index()];
        }
        let active = &mut state.active[Writer::Host as usize];
        let (place, block) = (Ppn(active.next), active.block);
        active.next += 1;
        let is_full = active.is_full();
        self.owners.set(place, page);
        let mut superseded = None;
        if let Some(old) = self.map.replace(page, place) {
            let block = self.layout.block_of(old);
            superseded = Some(block);
            if let Some(valid) = self.blocks.lose(block, old) {
                let mut plane = plane;
                if home {
                    debug_assert_eq!(plane, self.layout.plane_of(block), "page {}", page.0);
                } else {
                    plane = self.layout.plane_of(block);
                    state = &mut self.planes[plane.index()];
                }
                state.stale += 1;
                self.chooser.invalidated(plane, block, valid);
            }
        }
        if is_full {
            self.close(plane, block);
            self.full_block(plane);
        }
        Some(Put {
            placed: Placed {
                page,
                place,
                plane,
                superseded,
            },
            ends_row,
        })
    }

    /// Returns the plane for a host page, and whether the page has never been on another plane.
    /// Returns `None` if the address does not determine the plane and no plane has room.
    #[inline(always)]
    pub(super) fn plane_for(&mut self, page: Lpn) -> Option<(Plane, bool)> {
        if let Some(home) = self.allocator.home(page) {
            return Some((home, !self.scattered));
        }
        let (planes, reserve) = (&self.planes, self.reserve_blocks);
        let shared = self.collection == Writer::Host;
        let plane = self.allocator.plane(page, |plane| {
            planes[plane.index()].has_room(reserve, shared)
        })?;
        Some((plane, false))
    }

    /// Allocates a physical page in an active block for the copy of a moved page, and opens a block
    /// if there is none.
    #[inline(always)]
    pub(super) fn append(&mut self, plane: Plane, writer: Writer, from: Ppn) -> Ppn {
        let mut state = &mut self.planes[plane.index()];
        if state.active[writer as usize].is_full() {
            self.open(plane, writer);
            state = &mut self.planes[plane.index()];
        }
        let active = &mut state.active[writer as usize];
        let (place, block) = (Ppn(active.next), active.block);
        active.next += 1;
        let is_full = active.is_full();
        let page = self.owners.copy(from, place);
        self.map.set(page, place);
        if is_full {
            self.close(plane, block);
            if writer == Writer::Host {
                self.full_block(plane);
            }
        }
        place
    }

    #[cold]
    pub(super) fn open(&mut self, plane: Plane, writer: Writer) {
        if self.cache.is_some() && writer == Writer::Host && self.open_for_host(plane) {
            return;
        }
        self.open_direct(plane, writer);
    }
    /// Opens a block outside the SLC cache.
    pub(super) fn open_direct(&mut self, plane: Plane, writer: Writer) {
        let state = &mut self.planes[plane.index()];
        assert!(
            state.free > 0,
            "plane {} has no free block, not even in the reserve",
            plane.0
        );
        state.free -= 1;
        self.free_blocks -= 1;
        let block = match writer {
            Writer::Wear => self.free.take_worn(plane),
            Writer::Host | Writer::Collection | Writer::Direct | Writer::Return => {
                self.free.take(plane)
            }
        };
        let block = block.unwrap_or_else(|| unreachable!("the plane has a free block"));
        self.activate(plane, writer, block, 0);
    }

    /// Makes a block with `programmed` programmed pages the active block of a writer.
    pub(super) fn activate(&mut self, plane: Plane, writer: Writer, block: Block, programmed: u32) {
        let next = self.layout.page(block, programmed);
        let end = self.layout.page(block, self.data_pages());
        self.unwritten = self.user_pages();
        self.blocks.enter(block, Phase::Active);
        self.blocks.expect(block, next, end);
        self.planes[plane.index()].active[writer as usize] = Active {
            block,
            next: next.0,
            end: end.0,
        };
    }

    #[cold]
    pub(super) fn close(&mut self, plane: Plane, block: Block) {
        if self.cache.is_some() && self.close_cached(plane, block) {
            return;
        }
        self.close_direct(plane, block);
    }
    /// Closes a block outside the SLC cache.
    pub(super) fn close_direct(&mut self, plane: Plane, block: Block) {
        self.blocks.enter(block, Phase::Closed);
        let valid = self.blocks.valid(block);
        self.planes[plane.index()].stale += self.data_pages() - valid;
        self.chooser.closed(plane, block, valid);
    }

    /// Makes a superseded or trimmed copy of a page current again.
    pub(in crate::mapping) fn restore(&mut self, page: Lpn, place: Ppn) {
        debug_assert_eq!(
            self.map.get(page),
            None,
            "page {} already has a current copy",
            page.0
        );
        self.map.set(page, place);
        self.revive(place);
    }

    #[inline]
    pub(in crate::mapping) fn invalidate(&mut self, page: Ppn) {
        let block = self.layout.block_of(page);
        if let Some(valid) = self.blocks.lose(block, page) {
            let plane = self.layout.plane_of(block);
            self.planes[plane.index()].stale += 1;
            self.chooser.invalidated(plane, block, valid);
        }
    }
}
