//! First-in, first-out victim selection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::slot::Cited;
use wordline_nand::{Block, Layout, Plane};

use super::VictimPolicy;
use crate::block::Blocks;
use crate::lists::Lists;

/// The block that was filled first. This policy wears all blocks equally. Its write amplification
/// under uniform load has a closed form: u = (u' - 1) / ln u', WA = 1 / (1 - u'), where u is the
/// share of valid pages in the device and u' that in victims.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fifo {}

impl Cited for Fifo {
    const PAPER: &'static str =
        "P. Desnoyers, Analytic modeling of SSD write performance, SYSTOR 2012";
}

/// Full blocks of each plane, in the order in which they became full.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    lists: Lists,
}

impl State {
    pub(super) fn memory(layout: &Layout, fill: Fill) -> Table {
        Lists::memory(
            "GC candidates",
            layout.planes().into(),
            layout.blocks().into(),
            fill.physical,
        )
    }
    pub(super) fn new(_policy: &Fifo, layout: &Layout, _seed: u64) -> Self {
        Self {
            lists: Lists::new(layout.planes() as usize, layout.blocks() as usize),
        }
    }
}

impl VictimPolicy for State {
    fn closed(&mut self, plane: Plane, block: Block, _valid: u32) {
        self.lists.push_back(plane.index(), block.0);
    }
    #[inline]
    fn invalidated(&mut self, _plane: Plane, _block: Block, _valid: u32) {}
    fn choose(&mut self, plane: Plane, _blocks: &Blocks) -> Option<Block> {
        let block = self.lists.front(plane.index())?;
        self.lists.remove(block);
        Some(Block(block))
    }
    fn withdraw(&mut self, _plane: Plane, block: Block, _valid: u32) {
        self.lists.remove(block.0);
    }
}
