//! Flash of the device: the array, the dies in front of it, and operations on their way there.

use serde::{Deserialize, Serialize};
use wordline_ftl::program_mode::Regulator;
use wordline_kernel::{Plus, Rng, Time};
use wordline_nand::{Array, BadBlocks, Block, Die, Layout, Plane, Ppn};
use wordline_reliability::ProgramMode;

use super::issue::IssueStage;
use super::loses_power::LosesPower;
use crate::backend::{BackEnd, Usage};
use crate::plan::Plan;

/// The array, the back end, and the scheduler's queue.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Flash {
    pub layout: Layout,
    pub array: Array,
    pub backend: BackEnd,
    /// Scheduler, if operations wait for one.
    pub issue: Option<Box<IssueStage>>,
    /// Number of programs in progress that supersede a page of a block, by block. The block is not
    /// erased until they are done, because a power failure would lose the older data.
    #[serde(with = "wordline_kernel::dense")]
    pub superseding: Vec<u16>,
    /// Planes on which read reclaim or refresh is in progress.
    pub refreshing: Vec<Plane>,
    /// Usage of each die up to the last power cut.
    pub usage: Vec<Usage>,
    /// Whether waiting operations are counted by request.
    counts_waiting: bool,
}

/// Returns the bad blocks of a new array, if blocks can be bad. The plan ensures that there are
/// enough spare blocks.
fn bad_blocks(plan: &Plan) -> Option<BadBlocks> {
    let (part, spare_blocks) = (&plan.part, plan.ftl.config.spare_blocks);
    if spare_blocks == 0 && part.failing.is_none() {
        return None;
    }
    BadBlocks::new(
        &part.layout,
        spare_blocks,
        part.factory_bad_ratio,
        part.seed,
    )
    .ok()
}

/// Returns a new array. If programs and erases can fail, the failure model replaces the endurance.
fn array(plan: &Plan) -> Array {
    let part = &plan.part;
    let endurance = match part.failing {
        Some(_) => u32::MAX,
        None => part.endurance_cycles,
    };
    let mut array = Array::new(part.layout, endurance).with_partial_programs(part.partial_programs);
    if let Some(costs) = part.chains.costs() {
        let regulator = Regulator::new(&plan.ftl.config.regulation, 0);
        array.keep_modes(costs, regulator.policy().preloaded());
    }
    if part.chains.single_level().is_some() {
        array.keep_single_level();
    }
    if part.reader.is_some() {
        array.track_health();
    }
    if let Some(bad_blocks) = bad_blocks(plan) {
        array.keep_bad_blocks(bad_blocks);
    }
    array
}

/// Returns idle dies, whose array times are drawn from `draws`.
fn backend(plan: &Plan, draws: Rng, counts_waiting: bool) -> BackEnd {
    let mut backend = BackEnd::new(plan, draws);
    if counts_waiting {
        backend.count_waiting();
    }
    backend
}

impl Flash {
    /// Creates the flash of a new device.
    pub fn new(plan: &Plan, counts_waiting: bool) -> Self {
        let layout = plan.part.layout;
        let draws = Rng::new(plan.part.seed, "nand.array");
        Self {
            layout,
            array: array(plan),
            backend: backend(plan, draws, counts_waiting),
            issue: IssueStage::new(plan),
            superseding: vec![0; layout.blocks() as usize],
            refreshing: Vec::new(),
            usage: vec![Usage::default(); layout.dies as usize],
            counts_waiting,
        }
    }

    /// Returns the number of operations of a die that are committed or wait for the scheduler, and
    /// the number of programs among them. Operations of GC and rewrites do not count.
    #[inline]
    pub fn load_of(&self, die: Die) -> (u32, u32) {
        let [reads, programs] = self.backend.loads()[die.index()].counts;
        let (all, queued) = self
            .issue
            .as_ref()
            .map_or((0, 0), |stage| stage.waiting(die));
        (reads + programs + all, programs + queued)
    }

    /// Counts a program in progress that supersedes a page of this block.
    #[inline]
    pub fn supersedes(&mut self, block: Option<Block>) {
        if let Some(block) = block {
            self.superseding[block.index()] += 1;
        }
    }

    /// Returns the program mode of a page.
    pub fn mode_of(&self, place: Ppn) -> ProgramMode {
        let modes = self.array.modes();
        modes.map_or(ProgramMode::Medium, |modes| modes.of(place))
    }

    /// Returns `true` if a die has no host work.
    pub fn is_idle(&self, die: Die) -> bool {
        let stage = self.issue.as_ref();
        self.backend.loads()[die.index()].committed() == 0
            && stage.is_none_or(|stage| stage.waiting(die).0 == 0)
    }
}

impl LosesPower for Flash {
    fn lose_power(&mut self, _now: Time, plan: &Plan) {
        let Self {
            layout: _,
            array: _,
            backend: of_dies,
            issue,
            superseding,
            refreshing,
            usage,
            counts_waiting,
        } = self;
        for (all, usage) in usage.iter_mut().zip(of_dies.usage()) {
            *all = all.plus(usage);
        }
        let mut fresh = backend(plan, of_dies.draws().clone(), *counts_waiting);
        fresh.keep_slow_dies(of_dies);
        *of_dies = fresh;
        *issue = IssueStage::new(plan);
        superseding.fill(0);
        refreshing.clear();
    }
}
