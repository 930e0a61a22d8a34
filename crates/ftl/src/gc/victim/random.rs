//! Random victim selection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Rng;
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::slot::Cited;
use wordline_nand::{Block, Layout, Plane};

use super::VictimPolicy;
use super::set::PlaneSets;
use crate::block::Blocks;

/// Any full block, with equal probability. Under uniform load, WA = 1 / (1 - u), where u is the
/// share of valid pages in the device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Random {}

impl Cited for Random {
    const PAPER: &'static str = "B. Van Houdt, A mean field model for a class of garbage collection algorithms in flash-based solid state drives, SIGMETRICS 2013";
}

/// Full blocks of each plane, and the random number generator `gc.victim.random`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    sets: PlaneSets,
    random: Rng,
}

impl State {
    pub(super) fn memory(layout: &Layout, fill: Fill) -> Table {
        PlaneSets::memory(layout, fill)
    }
    pub(super) fn new(_policy: &Random, layout: &Layout, seed: u64) -> Self {
        Self {
            sets: PlaneSets::new(layout),
            random: Rng::new(seed, "gc.victim.random"),
        }
    }
}

impl VictimPolicy for State {
    fn closed(&mut self, plane: Plane, block: Block, _valid: u32) {
        self.sets.insert(plane, block);
    }
    #[inline]
    fn invalidated(&mut self, _plane: Plane, _block: Block, _valid: u32) {}
    fn choose(&mut self, plane: Plane, _blocks: &Blocks) -> Option<Block> {
        let size = self.sets.size(plane);
        (size > 0).then(|| {
            self.sets
                .remove(plane, self.random.below(size.into()) as u32)
        })
    }
    fn withdraw(&mut self, plane: Plane, block: Block, _valid: u32) {
        self.sets.withdraw(plane, block);
    }
}
