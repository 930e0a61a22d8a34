//! Dynamic wear levelling.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::slot::Cited;
use wordline_nand::{Block, Layout, Plane};

use super::{Pristine, Spend};

/// The free block of a plane with the fewest erases is written next. Ties go to the block that has
/// been free for the longest time. Blocks with cold data are not moved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dynamic {}

impl Cited for Dynamic {
    const PAPER: &'static str =
        "N. Agrawal et al., Design tradeoffs for SSD performance, USENIX ATC 2008";
}

/// Free block, ordered by number of erases, then by the time at which it became free.
type Free = Reverse<(u32, u64, u32)>;

/// Heap of the free blocks of each plane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    pristine: Pristine,
    erased: Vec<BinaryHeap<Free>>,
    sequence: u64,
}

impl State {
    pub(super) const MOVES_DATA: bool = false;
    /// Returns an estimate of zero: only blocks that were erased are in the heap, and few of them
    /// are free at a time.
    pub(super) fn memory(_layout: &Layout, _fill: Fill) -> Table {
        Table::grown::<Free>("free blocks", 0)
    }
    pub(super) fn new(_policy: &Dynamic, layout: &Layout) -> Self {
        let erased = vec![BinaryHeap::new(); layout.planes() as usize];
        Self {
            pristine: Pristine::new(layout),
            erased,
            sequence: 0,
        }
    }
}

impl Spend for State {
    fn erased(&mut self, plane: Plane, block: Block, erases: u32) {
        self.sequence += 1;
        self.erased[plane.index()].push(Reverse((erases, self.sequence, block.0)));
    }
    fn take(&mut self, plane: Plane) -> Option<Block> {
        let erased = &mut self.erased[plane.index()];
        self.pristine
            .take(plane)
            .or_else(|| erased.pop().map(|Reverse((_, _, block))| Block(block)))
    }
}
