//! The flash of the device: the array, the dies in front of it, and operations on their way there.

use serde::{Deserialize, Serialize};
use wordline_ftl::program_mode::Regulator;
use wordline_kernel::{Rng, Time};
use wordline_nand::{Array, BadBlocks, Block, Die, Layout, Plane, Ppn};
use wordline_reliability::ProgramMode;

use super::issue::IssueStage;
use super::power::LosesPower;
use crate::backend::{BackEnd, Usage};
use crate::plan::Plan;

/// The array, the back end and the scheduler's queue.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Flash {
    pub layout: Layout,
    pub array: Array,
    pub backend: BackEnd,
    /// The scheduler, if operations wait for one.
    pub issue: Option<Box<IssueStage>>,
    /// By block: programs on their way that supersede a page of it. Until they are done, the block
    /// is not erased: if the power failed, the data before them would be lost.
    #[serde(with = "wordline_kernel::dense")]
    pub superseding: Vec<u16>,
    /// Planes on which data is refreshed.
    pub refreshing: Vec<Plane>,
    /// By die: what it was used for up to the last power cut.
    pub usage: Vec<Usage>,
    /// Whether operations that wait are counted by request.
    counts_waiting: bool,
}

/// The bad blocks of a new array, where blocks can be bad. There are no more than spare ones: who makes a plan checks that.
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

/// A pristine array. Where programs and erases fail, that is what its endurance is.
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

/// Idle dies, whose array times are drawn from `draws`.
fn backend(plan: &Plan, draws: Rng, counts_waiting: bool) -> BackEnd {
    let mut backend = BackEnd::new(plan, draws);
    if counts_waiting {
        backend.count_waiting();
    }
    backend
}

impl Flash {
    /// Pristine flash.
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

    /// Operations that are committed to a die or wait for the scheduler, and how many of them are programs.
    pub fn load_of(&self, die: Die) -> (u32, u32) {
        let [reads, programs] = self.backend.loads()[die.index()].counts;
        let (all, queued) = self
            .issue
            .as_ref()
            .map_or((0, 0), |stage| stage.waiting(die));
        (reads + programs + all, programs + queued)
    }

    /// A program is on its way that supersedes a page of this block.
    #[inline]
    pub fn supersedes(&mut self, block: Option<Block>) {
        if let Some(block) = block {
            self.superseding[block.index()] += 1;
        }
    }

    /// How a page was programmed.
    pub fn mode_of(&self, place: Ppn) -> ProgramMode {
        let modes = self.array.modes();
        modes.map_or(ProgramMode::Medium, |modes| modes.of(place))
    }

    /// Whether a die has nothing to do for the host.
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
            *all = all.plus(&usage);
        }
        *of_dies = backend(plan, of_dies.draws().clone(), *counts_waiting);
        *issue = IssueStage::new(plan);
        superseding.fill(0);
        refreshing.clear();
    }
}
