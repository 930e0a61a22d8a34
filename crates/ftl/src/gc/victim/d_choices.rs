//! d-choices victim selection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Rng;
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::slot::Cited;
use wordline_nand::{Block, Layout, Plane};

use super::VictimPolicy;
use super::set::PlaneSets;
use crate::block::Blocks;

/// The block with the fewest valid pages among d blocks drawn at random, with replacement. For d of
/// 10 or more, the result is close to `greedy`, at a cost that does not grow with the size of the
/// device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DChoices {
    /// Blocks drawn per choice; 1 is random selection. Count.
    #[schemars(range(min = 1, max = 65_536))]
    pub d: u32,
}

impl Default for DChoices {
    fn default() -> Self {
        Self { d: 10 }
    }
}

impl Cited for DChoices {
    const PAPER: &'static str = "B. Van Houdt, A mean field model for a class of garbage collection algorithms in flash-based solid state drives, SIGMETRICS 2013";
}

/// Full blocks of each plane, and the random number generator `gc.victim.d-choices`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    d: u32,
    sets: PlaneSets,
    random: Rng,
}

impl State {
    pub(super) fn memory(layout: &Layout, fill: Fill) -> Table {
        PlaneSets::memory(layout, fill)
    }
    pub(super) fn new(policy: &DChoices, layout: &Layout, seed: u64) -> Self {
        let random = Rng::new(seed, "gc.victim.d-choices");
        Self {
            d: policy.d.max(1),
            sets: PlaneSets::new(layout),
            random,
        }
    }
}

impl VictimPolicy for State {
    fn closed(&mut self, plane: Plane, block: Block, _valid: u32) {
        self.sets.insert(plane, block);
    }
    #[inline]
    fn invalidated(&mut self, _plane: Plane, _block: Block, _valid: u32) {}
    fn choose(&mut self, plane: Plane, blocks: &Blocks) -> Option<Block> {
        let size = self.sets.size(plane);
        if size == 0 {
            return None;
        }
        let draws = (0..self.d).map(|_| self.random.below(size.into()) as u32);
        let best = draws.min_by_key(|&place| blocks.valid(self.sets.get(plane, place)))?;
        Some(self.sets.remove(plane, best))
    }
    fn withdraw(&mut self, plane: Plane, block: Block, _valid: u32) {
        self.sets.withdraw(plane, block);
    }
}
