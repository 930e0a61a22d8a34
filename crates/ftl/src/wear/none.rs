//! No wear levelling.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::slot::Cited;
use wordline_nand::{Block, Layout, Plane};

use super::{Pristine, Spend};

/// Free blocks are written in FIFO order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct None {}

impl Cited for None {
    const PAPER: &'static str = "";
}

/// Queue of the free blocks of each plane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    pristine: Pristine,
    erased: Vec<VecDeque<Block>>,
}

impl State {
    pub(super) const MOVES_DATA: bool = false;
    /// Returns an estimate of zero: only blocks that were erased are in the queue, and few of them
    /// are free at a time.
    pub(super) fn memory(_layout: &Layout, _fill: Fill) -> Table {
        Table::grown::<Block>("free blocks", 0)
    }
    pub(super) fn new(_policy: &None, layout: &Layout) -> Self {
        let erased = vec![VecDeque::new(); layout.planes() as usize];
        Self {
            pristine: Pristine::new(layout),
            erased,
        }
    }
}

impl Spend for State {
    fn erased(&mut self, plane: Plane, block: Block, _erases: u32) {
        self.erased[plane.index()].push_back(block);
    }
    fn take(&mut self, plane: Plane) -> Option<Block> {
        self.pristine
            .take(plane)
            .or_else(|| self.erased[plane.index()].pop_front())
    }
}
