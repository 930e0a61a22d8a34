//! Wear levelling that ignores wear caused by refresh.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::slot::Cited;
use wordline_nand::{Block, Layout, Plane};

use super::{Pristine, Spend};

/// Never-used blocks are written first, in order, then the free block of a plane with the fewest
/// erases, but only erases caused by writes count. Erases of blocks whose data was refreshed,
/// because it was read too often or programmed too long ago (`nand.reliability`), do not count.
/// Ties go to the block freed last. Frequently read data therefore circulates among a few blocks,
/// which wear out while the others do not. Only page mapping (`page`, `dftl`) distinguishes these
/// erases; in the other families all erases count as caused by writes. The uncounted erases are
/// tracked in memory only: after a power cut, all erases count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReadBlind {}

impl Cited for ReadBlind {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, section 5.4.4 (the finding; the mechanism is ours)";
}

/// Free block, ordered by counted erases, then by the time at which it became free, latest first.
type Free = Reverse<(u32, Reverse<u64>, u32)>;

/// Heap of the free blocks of each plane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    pristine: Pristine,
    erased: Vec<BinaryHeap<Free>>,
    /// Number of erases of each block that do not count.
    refreshes: Vec<u32>,
    sequence: u64,
}

impl State {
    pub(super) const MOVES_DATA: bool = false;
    pub(super) fn memory(layout: &Layout, _fill: Fill) -> Table {
        Table::zeroed::<u32>("erases caused by refresh", layout.blocks().into(), 0.0)
    }
    pub(super) fn new(_policy: &ReadBlind, layout: &Layout) -> Self {
        Self {
            pristine: Pristine::new(layout),
            erased: vec![BinaryHeap::new(); layout.planes() as usize],
            refreshes: vec![0; layout.blocks() as usize],
            sequence: 0,
        }
    }
}

impl Spend for State {
    fn erased(&mut self, plane: Plane, block: Block, erases: u32) {
        self.sequence += 1;
        let counted = erases.saturating_sub(self.refreshes[block.index()]);
        let free = (counted, Reverse(self.sequence), block.0);
        self.erased[plane.index()].push(Reverse(free));
    }
    fn refreshed(&mut self, plane: Plane, block: Block, erases: u32) {
        self.refreshes[block.index()] += 1;
        self.erased(plane, block, erases);
    }
    fn refreshed_in_place(&mut self, _plane: Plane, block: Block, _erases: u32) {
        self.refreshes[block.index()] += 1;
    }
    fn take(&mut self, plane: Plane) -> Option<Block> {
        let erased = &mut self.erased[plane.index()];
        self.pristine
            .take(plane)
            .or_else(|| erased.pop().map(|Reverse((_, _, block))| Block(block)))
    }
}
