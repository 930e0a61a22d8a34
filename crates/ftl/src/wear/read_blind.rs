//! Wear levelling that does not see what reads wear out.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::slot::Cited;
use wordline_nand::{Block, Layout, Plane};

use super::{Pristine, Spend};

/// Of the free blocks of a plane the one with the fewest erases is written next, but only erases that writes have caused are counted: those of blocks
/// whose data moved because it was read too often, or lay too long (`nand.reliability`), are not. Among equals the block that was freed last is
/// written next. Data that is read much therefore goes round among few blocks, which wear out while the others do not. Page mapping (`page`,
/// `dftl`) only; to the other families all erases are of writes. What is not counted is known in memory only: a power cut makes all erases count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReadBlind {}

impl Cited for ReadBlind {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, section 5.4.4 (the finding; the mechanism is ours)";
}

/// A free block; orders by the erases that count, then by how short it has been free.
type Free = Reverse<(u32, Reverse<u64>, u32)>;

/// Per plane a heap of free blocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    pristine: Pristine,
    erased: Vec<BinaryHeap<Free>>,
    /// By block: erases that do not count.
    refreshes: Vec<u32>,
    sequence: u64,
}

impl State {
    pub(super) const MOVES_DATA: bool = false;
    pub(super) fn memory(layout: &Layout, _fill: Fill) -> Table {
        Table::zeroed::<u32>("erases for the sake of data", layout.blocks().into(), 0.0)
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
