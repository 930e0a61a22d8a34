//! Refresh of data into another block or in place.

use wordline_nand::{Block, Plane, Ppn};

use super::{PageMap, Writer};
use crate::block::Phase;
use crate::gc::victim::VictimPolicy;
use crate::job::{Collection, GcKind};
use crate::refresh::Return;
use crate::wear::Spend;

impl PageMap {
    /// Implements [`Mapping::refresh`](crate::Mapping::refresh).
    pub(super) fn start_refresh(&mut self, block: Block) -> Option<Collection> {
        let plane = self.layout.plane_of(block);
        let state = &self.planes[plane.index()];
        if state.victim.is_some()
            || state.free <= self.reserve_blocks
            || self.blocks.phase(block) != Phase::Closed
        {
            return None;
        }
        let writer = if self.plan.config.refresh.target.returns() {
            Writer::Return
        } else {
            self.collection
        };
        let mut collection = self.start_data(plane, block, writer);
        if writer == Writer::Return {
            collection.cost.pages *= 2;
            collection.cost.blocks = 2;
        }
        Some(collection)
    }

    /// Starts a GC run that refreshes the data of a closed block.
    fn start_data(&mut self, plane: Plane, block: Block, writer: Writer) -> Collection {
        self.chooser
            .withdraw(plane, block, self.blocks.valid(block));
        self.start_on(plane, block, GcKind::Refresh, writer)
    }

    /// Handles the erase of a block in an in-place refresh. Returns `true` if the block is not
    /// free, because its data is copied back to it.
    pub(super) fn returns(&mut self, plane: Plane, block: Block, erases: u32) -> bool {
        let victim = self.planes[plane.index()].victim;
        if victim.is_none_or(|victim| victim.writer != Writer::Return || victim.block != block) {
            return false;
        }
        let active = &mut self.planes[plane.index()].active[Writer::Return as usize];
        let written = std::mem::take(active);
        // All pages that were copied, or were still to be copied, have become invalid.
        if written.end == 0 {
            return false;
        }
        if !written.is_full() {
            self.blocks
                .give_up(written.block, Ppn(written.next), Ppn(written.end));
            self.close_direct(plane, written.block);
        }
        let is_back = victim.is_some_and(|victim| victim.is_back);
        if is_back || self.blocks.valid(written.block) == 0 {
            return false;
        }
        self.free.refreshed_in_place(plane, block, erases);
        self.activate(plane, Writer::Return, block, 0);
        self.start_data(plane, written.block, Writer::Return);
        if let Some(victim) = &mut self.planes[plane.index()].victim {
            victim.is_back = true;
        }
        true
    }
}
