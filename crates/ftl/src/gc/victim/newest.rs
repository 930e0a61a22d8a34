//! Newest-first victim selection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::slot::Cited;
use wordline_nand::{Block, Layout, Plane};

use super::VictimPolicy;
use crate::block::Blocks;

/// The block that was filled last. Its pages have had the least time to become invalid, so this
/// policy shows how bad a choice can be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Newest {}

impl Cited for Newest {
    const PAPER: &'static str = "";
}

/// Full blocks of each plane, in the order in which they became full.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    full: Vec<Vec<Block>>,
}

impl State {
    pub(super) fn memory(layout: &Layout, fill: Fill) -> Table {
        Table::zeroed::<Block>("victims", layout.blocks().into(), fill.physical)
    }
    pub(super) fn new(_policy: &Newest, layout: &Layout, _seed: u64) -> Self {
        Self {
            full: vec![Vec::new(); layout.planes() as usize],
        }
    }
}

impl VictimPolicy for State {
    fn closed(&mut self, plane: Plane, block: Block, _valid: u32) {
        self.full[plane.index()].push(block);
    }
    fn invalidated(&mut self, _plane: Plane, _block: Block, _valid: u32) {}
    fn choose(&mut self, plane: Plane, _blocks: &Blocks) -> Option<Block> {
        self.full[plane.index()].pop()
    }
    fn withdraw(&mut self, plane: Plane, block: Block, _valid: u32) {
        self.full[plane.index()].retain(|&other| other != block);
    }
}
