//! Aligned blocks, which take pages of all planes of a die at the same offset, independently of the
//! active blocks of the planes.

use wordline_nand::{Plane, Ppn};

use super::{Active, PageMap};
use crate::allocate::PlanePolicy;
use crate::block::Phase;
use crate::lpn::Lpn;
use crate::mapping::Mapping;
use crate::wear::Spend;

impl PageMap {
    /// Implements [`Mapping::write_in_step`]. The addresses of the pages must place one page on
    /// each plane of a die.
    pub(super) fn put_in_step(&mut self, pages: &[Lpn], places: &mut Vec<Ppn>) -> bool {
        let homes = pages.iter().map(|page| self.allocator.home(*page));
        let Some(planes) = homes.collect::<Option<Vec<Plane>>>() else {
            return false;
        };
        debug_assert_eq!(planes.len() as u32, self.layout.planes_per_die);
        if self.in_step.is_empty() {
            self.in_step = vec![Active::default(); self.layout.planes() as usize];
        }
        if self.in_step[planes[0].index()].is_full() && !self.open_in_step(&planes) {
            return false;
        }
        for (page, plane) in pages.iter().zip(planes) {
            places.push(self.append_in_step(*page, plane));
        }
        true
    }

    /// Opens an aligned block on each plane. Returns `false` if a plane has no free block for the
    /// host.
    fn open_in_step(&mut self, planes: &[Plane]) -> bool {
        let spares = |plane: &Plane| self.planes[plane.index()].free > self.reserve_blocks;
        if !planes.iter().all(spares) {
            return false;
        }
        for plane in planes {
            let Some(block) = self.free.take(*plane) else {
                unreachable!("the plane has a free block")
            };
            self.planes[plane.index()].free -= 1;
            self.free_blocks -= 1;
            let next = self.layout.page(block, 0);
            let end = self.layout.page(block, self.data_pages());
            self.unwritten = self.user_pages();
            self.blocks.enter(block, Phase::Active);
            self.blocks.expect(block, next, end);
            self.in_step[plane.index()] = Active {
                block,
                next: next.0,
                end: end.0,
            };
        }
        true
    }

    fn append_in_step(&mut self, page: Lpn, plane: Plane) -> Ppn {
        let active = &mut self.in_step[plane.index()];
        let (place, block) = (Ppn(active.next), active.block);
        active.next += 1;
        let is_full = active.is_full();
        self.owners.set(place, page);
        if let Some(old) = self.map.replace(page, place) {
            self.invalidate(old);
        }
        if is_full {
            self.close(plane, block);
        }
        place
    }
}
