//! Records of erases: a page of metadata for every block that a merge erases, so that the
//! block table in flash is up to date (Jung 2013, section 7.5.1.1: t'_write).
//!
//! A record is short and names all that the records before it named, so that only the last one
//! counts; two blocks of a plane take turns.

use serde::{Deserialize, Serialize};
use wordline_nand::{Block, Plane};

use super::{LogicalMap, RECORD};
use crate::block::Phase;
use crate::job::Step;

/// Blocks of a plane that hold records.
pub(super) const BLOCKS: u32 = 2;

/// Where the records of a plane go.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Record {
    pub blocks: [Block; BLOCKS as usize],
    /// Which of them takes records.
    pub turn: usize,
    /// Its next page.
    pub next: u32,
    /// Whether the other one is erased.
    pub other_is_erased: bool,
}

impl LogicalMap {
    /// Takes the blocks for records out of a plane.
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

    /// The step that writes the next record, or the erase of a block that has to come before it; the
    /// flag says which.
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
