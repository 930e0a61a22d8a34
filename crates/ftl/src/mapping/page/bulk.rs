//! Bulk operations of page mapping.

use std::ops::Range;

use wordline_nand::{Block, Plane, Ppn};

use super::{PageMap, PlaneState, Writer};
use crate::allocate::PlanePolicy;
use crate::job::JobId;
use crate::lpn::Lpn;
use crate::mapping::{Bulk, Placed};

impl Bulk for PageMap {
    #[inline]
    fn write_row<E>(
        &mut self,
        pages: Range<u32>,
        mut placed: impl FnMut(Placed) -> Result<(), E>,
    ) -> Result<(), E> {
        for page in pages.map(Lpn) {
            let Some((plane, home)) = self.plane_for(page) else {
                break;
            };
            let Some(put) = self.put(page, plane, home) else {
                break;
            };
            placed(put.placed)?;
            if put.ends_row {
                break;
            }
        }
        Ok(())
    }
    #[inline]
    fn read_all(&mut self, job: JobId, mut read: impl FnMut(Plane, Ppn)) {
        let plane = Plane(job.0);
        let Some(victim) = self
            .planes
            .get_mut(plane.index())
            .and_then(|state| state.victim.as_mut())
        else {
            return;
        };
        let end = self.layout.page(victim.block, self.layout.pages_per_block);
        let next = std::mem::replace(&mut victim.next, end);
        self.blocks.each_valid(next, end, |from| read(plane, from));
    }
    #[inline]
    fn move_all<E>(
        &mut self,
        job: JobId,
        mut copied: impl FnMut(Ppn, Ppn) -> Result<(), E>,
    ) -> Result<(), E> {
        let plane = Plane(job.0);
        let Some(victim) = self.planes[plane.index()].victim else {
            return Ok(());
        };
        let writer = victim.writer;
        while let Some(from) = self.next_to_move(plane) {
            self.prefetch_entry(Ppn(from.0 + 8));
            self.blocks.lose(victim.block, from);
            let to = self.append(plane, writer, from);
            copied(from, to)?;
        }
        Ok(())
    }
}

impl PageMap {
    /// Implements [`Mapping::fill`](crate::Mapping::fill): fills one block of every plane per
    /// round.
    pub(super) fn fill_blocks<E>(
        &mut self,
        pages: Range<u32>,
        mut filled: impl FnMut(Block) -> Result<(), E>,
    ) -> Result<u32, E> {
        let mut next = pages.start;
        let least = self.rest_blocks;
        let round = self.layout.planes() * self.layout.pages_per_block;
        if self.caches() || next < self.unwritten || (pages.len() as u32) < round {
            return Ok(0);
        }
        let Some(turn) = self.allocator.turn(Lpn(next)) else {
            return Ok(0);
        };
        if next == 0 && self.plan.keeps_formula() {
            self.map
                .follow_formula(turn.len(), self.layout.pages_per_block);
            self.owners.follow_formula(turn.len() as u32);
        }
        if !self.map.can_fill(next) {
            return Ok(0);
        }
        let spared = |state: &PlaneState| state.free > least;
        while pages.end - next >= round && self.planes.iter().all(spared) {
            for place in self.fill_round(next..next + round, &turn) {
                filled(self.layout.block_of(place))?;
            }
            next += round;
        }
        Ok(next - pages.start)
    }
    /// Fills a whole free block of a plane for the host. Returns its first page.
    fn fill_block(&mut self, plane: Plane) -> Ppn {
        self.open_direct(plane, Writer::Host);
        let active = &mut self.planes[plane.index()].active[Writer::Host as usize];
        active.next = active.end;
        let block = active.block;
        self.close_direct(plane, block);
        self.layout.page(block, 0)
    }
    /// Writes `pages`, which were never written, to one free block of every plane, which they fill.
    /// No block of the host may be open, and `turn` must contain the planes of the pages, in order.
    /// Returns the first page of each block.
    fn fill_round(&mut self, pages: Range<u32>, turn: &[Plane]) -> Vec<Ppn> {
        let places: Vec<Ppn> = turn.iter().map(|&plane| self.fill_block(plane)).collect();
        for (page, place) in pages.clone().zip(&places) {
            let block = self.layout.block_of(*place);
            self.owners.fill(block, Lpn(page), turn.len() as u32);
        }
        self.map
            .fill(pages.start, &places, self.layout.pages_per_block);
        self.unwritten = pages.end;
        places
    }
}
