//! Reuse of the block that was freed last.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::slot::Cited;
use wordline_nand::{Block, Layout, Plane};

use super::{Pristine, Spend};

/// Free blocks are written in LIFO order, and never-used blocks last: the opposite of wear
/// levelling. Frequently written or read data circulates among a few blocks, which wear out while
/// the others do not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LastFreed {}

impl Cited for LastFreed {
    const PAPER: &'static str = "";
}

/// Stack of the free blocks of each plane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    pristine: Pristine,
    erased: Vec<Vec<Block>>,
}

impl State {
    pub(super) const MOVES_DATA: bool = false;
    /// Returns an estimate of zero: only blocks that were erased are on the stack, and few of them
    /// are free at a time.
    pub(super) fn memory(_layout: &Layout, _fill: Fill) -> Table {
        Table::grown::<Block>("free blocks", 0)
    }
    pub(super) fn new(_policy: &LastFreed, layout: &Layout) -> Self {
        Self {
            pristine: Pristine::new(layout),
            erased: vec![Vec::new(); layout.planes() as usize],
        }
    }
}

impl Spend for State {
    fn erased(&mut self, plane: Plane, block: Block, _erases: u32) {
        self.erased[plane.index()].push(block);
    }
    fn take(&mut self, plane: Plane) -> Option<Block> {
        self.erased[plane.index()]
            .pop()
            .or_else(|| self.pristine.take(plane))
    }
}
