//! The state of a device in two parts: what the flash keeps when the power fails, and what is lost.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use wordline_block::Ticket;
use wordline_ftl::program_mode::Regulator;
use wordline_ftl::recovery::SpareWriter;
use wordline_kernel::Rng;
use wordline_nand::{Array, BadBlocks, Block, Die, Ppn};
use wordline_reliability::Due;

use super::die_loads::{DieLoad, DieLoads};
use super::errors::{ErrorCounts, ReadAnnotations};
use super::failures::{Failing, FailureCounts};
use super::idle::Idling;
use super::issue::IssueStage;
use super::job::Jobs;
use super::pending::PendingWrites;
use super::regulate::{Decoding, GradeCounts, Regulation};
use super::requests::{Done, Requests};
use super::slc_cache::SlcCounts;
use super::spare::Carried;
use super::trim::Trims;
use crate::backend::{BackEnd, Usage};
use crate::plan::Plan;

/// What survives a power cut.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct NonVolatile {
    pub array: Array,
    /// Spare areas, if the power may fail.
    pub journal: Option<Box<SpareWriter>>,
    /// By die: what it was used for up to the last power cut.
    pub usage: Vec<Usage>,
    /// What was done of each mode.
    pub graded: GradeCounts,
    /// What went through the SLC cache, if there is one.
    pub slc: Option<Box<SlcCounts>>,
    /// What reads have found.
    pub errors: ErrorCounts,
    /// What has come of programs and erases that failed.
    pub failures: Box<FailureCounts>,
    /// Pages that hold what could not be read when it was copied, or what could not be written.
    pub lost: FxHashSet<Ppn>,
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

impl NonVolatile {
    /// Pristine flash.
    pub fn new(plan: &Plan) -> Self {
        let part = &plan.part;
        Self {
            array: array(plan),
            journal: None,
            graded: GradeCounts {
                storage: Regulator::new(&plan.ftl.config.regulation, 0)
                    .policy()
                    .storage(),
                ..GradeCounts::default()
            },
            slc: part.chains.single_level().map(|_| Box::default()),
            errors: ErrorCounts::default(),
            failures: Box::default(),
            lost: FxHashSet::default(),
            usage: vec![Usage::default(); part.layout.dies as usize],
        }
    }
}

/// What a power cut loses: the memory of the controller and everything on its way. The map is lost too, and
/// [`Mapping::recover`](wordline_ftl::Mapping::recover) builds it anew in its place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Volatile {
    pub backend: BackEnd,
    /// The scheduler, if operations wait for one.
    pub issue: Option<Box<IssueStage>>,
    pub requests: Requests,
    /// Requests that are done with, in the order in which they were; the owner clears it.
    pub done: Vec<Done>,
    pub jobs: Jobs,
    pub die_loads: DieLoads,
    /// What the device does when it is idle; `None` if its schedule never asks.
    pub idling: Option<Box<Idling>>,
    /// By block: programs on their way that supersede a page of it. Until they are done, the block
    /// is not erased: if the power failed, the data before them would be lost.
    #[serde(with = "wordline_kernel::dense")]
    pub superseding: Vec<u16>,
    /// TRIMs that wait for the flash, and what is remembered of them.
    pub trims: Trims,
    /// Writes without a place.
    pub pending: PendingWrites,
    /// What the spare areas of pages on their way will say.
    pub carried: Carried,
    /// Free blocks, as last observed.
    pub free_blocks: u32,
    /// Who decides how pages are programmed, where not all are alike.
    pub regulation: Option<Box<Regulation>>,
    /// What there is to say of requests beside, until they are done; nothing where pages are all alike.
    pub beside: Option<FxHashMap<Ticket, ReadAnnotations>>,
    /// Pages that are being decoded.
    pub decoding: Vec<Decoding>,
    /// Blocks whose data is to move, and why; each once.
    pub due: Vec<(Block, Due)>,
    /// Where errors are drawn from.
    pub error_draws: Rng,
    /// What has failed or will.
    pub failing: Box<Failing>,
}

impl Volatile {
    /// An idle device.
    pub fn new(plan: &Plan, mut backend: BackEnd, free_blocks: u32) -> Self {
        let regulation = Regulation::new(plan);
        if regulation.as_ref().is_some_and(|one| one.asks_for_queue()) {
            backend.count_waiting();
        }
        let layout = plan.part.layout;
        let planes = layout.planes() as usize;
        Self {
            backend,
            issue: IssueStage::new(plan),
            requests: Requests::default(),
            done: Vec::new(),
            jobs: Jobs::new(planes),
            die_loads: DieLoads::new(plan),
            idling: Idling::new(plan),
            superseding: vec![0; layout.blocks() as usize],
            trims: Trims::new(plan),
            pending: PendingWrites::new(planes),
            carried: Carried::default(),
            free_blocks,
            regulation,
            beside: plan.has_page_conditions().then(FxHashMap::default),
            decoding: Vec::new(),
            due: Vec::new(),
            error_draws: Rng::new(plan.part.seed, "nand.errors"),
            failing: Box::new(Failing::new(plan)),
        }
    }
}

impl Volatile {
    /// What a die has to do.
    pub fn die_load(&self, die: Die) -> DieLoad {
        let mut load = self.die_loads.of(die);
        let [reads, programs] = self.backend.loads()[die.index()].counts;
        load.reads += reads;
        load.programs += programs;
        if let Some(stage) = &self.issue {
            let (all, programs) = stage.waiting(die);
            load.reads += all - programs;
            load.programs += programs;
        }
        load
    }
}
