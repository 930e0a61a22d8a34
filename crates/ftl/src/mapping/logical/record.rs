//! Erase records: a metadata page for every block that a merge erases, to keep the block table in
//! flash up to date (Jung 2013, section 7.5.1.1: t'_write).
//!
//! A record is short and includes all earlier records, so that only the last one matters. Two
//! blocks of a plane take records in turn.

use serde::{Deserialize, Serialize};
use wordline_nand::{Block, Plane};

use super::{LogicalMap, RECORD};
use crate::block::Phase;
use crate::job::Step;

/// Number of blocks per plane for records.
pub(super) const BLOCKS: u32 = 2;

/// Location of the records of a plane.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Record {
    pub blocks: [Block; BLOCKS as usize],
    /// Index of the block that takes records.
    pub turn: usize,
    /// Next page to program in the block that takes records.
    pub next: u32,
    /// Whether the block that does not take records is erased.
    pub other_is_erased: bool,
}

impl LogicalMap {
    /// Reserves the blocks for records in a plane.
    pub(super) fn set_records_aside(&mut self, plane: Plane) {
        if !self.rules.record_erases {
            return;
        }
        let blocks = [(); BLOCKS as usize].map(|()| self.take_free(plane));
        for block in blocks {
            self.blocks.enter(block, Phase::Active);
        }
        self.planes[plane.index()].record = Record {
            blocks,
            turn: 0,
            next: 0,
            other_is_erased: true,
        };
    }

    #[inline]
    pub(super) fn is_record(&self, plane: Plane, block: Block) -> bool {
        self.rules.record_erases && self.planes[plane.index()].record.blocks.contains(&block)
    }

    /// Returns the step that writes the next record, or an erase that must precede it. The flag is
    /// `true` for a record.
    pub(super) fn record(&mut self, plane: Plane) -> (Step, bool) {
        let pages = self.layout.pages_per_block;
        let record = &mut self.planes[plane.index()].record;
        if record.next == pages {
            if !record.other_is_erased {
                record.other_is_erased = true;
                return (Step::Erase(record.blocks[1 - record.turn]), false);
            }
            record.turn = 1 - record.turn;
            record.next = 0;
            record.other_is_erased = false;
        }
        let place = self.layout.page(record.blocks[record.turn], record.next);
        record.next += 1;
        let step = Step::Program {
            place,
            label: RECORD,
        };
        (step, true)
    }
}
