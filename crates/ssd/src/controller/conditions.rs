//! What is known of pages that are not all alike: how they are programmed, what reads of them find, and what fails.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use wordline_block::Ticket;
use wordline_ftl::program_mode::Regulator;
use wordline_kernel::{Rng, Time};
use wordline_nand::{Block, Ppn};
use wordline_reliability::{Due, Failing, Reader};

use super::errors::{ErrorCounts, ReadAnnotations};
use super::failures::{FailureCounts, Failures};
use super::power::LosesPower;
use super::regulate::{Decoding, GradeCounts, Regulation};
use super::slc_cache::SlcCounts;
use crate::plan::Plan;

/// Modes, errors and failures of pages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Conditions {
    /// How reads err, if they do.
    pub reader: Option<Box<Reader>>,
    /// How programs and erases fail, if they do.
    pub failure_model: Option<Box<Failing>>,
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
    /// Who decides how pages are programmed, where not all are alike.
    pub regulation: Option<Box<Regulation>>,
    /// What there is to say of requests beside, until they are done; nothing where pages are all alike.
    pub annotations: Option<FxHashMap<Ticket, ReadAnnotations>>,
    /// Pages that are being decoded.
    pub decoding: Vec<Decoding>,
    /// Blocks whose data is to move, and why; each once.
    pub due: Vec<(Block, Due)>,
    /// Where errors are drawn from.
    pub error_draws: Rng,
    /// What has failed or will.
    pub failing: Box<Failures>,
}

impl Conditions {
    /// Of pristine flash.
    pub fn new(plan: &Plan) -> Self {
        let part = &plan.part;
        let regulator = Regulator::new(&plan.ftl.config.regulation, 0);
        Self {
            reader: part.reader.clone(),
            failure_model: part.failing.clone(),
            graded: GradeCounts {
                storage: regulator.policy().storage(),
                ..GradeCounts::default()
            },
            slc: part.chains.single_level().map(|_| Box::default()),
            errors: ErrorCounts::default(),
            failures: Box::default(),
            lost: FxHashSet::default(),
            regulation: Regulation::new(plan),
            annotations: plan.has_page_conditions().then(FxHashMap::default),
            decoding: Vec::new(),
            due: Vec::new(),
            error_draws: Rng::new(part.seed, "nand.errors"),
            failing: Box::new(Failures::new(Rng::new(part.seed, "nand.failures"))),
        }
    }

    /// Whether modes depend on requests that wait.
    pub fn asks_for_queue(&self) -> bool {
        let regulation = self.regulation.as_ref();
        regulation.is_some_and(|regulation| regulation.asks_for_queue)
    }
}

impl LosesPower for Conditions {
    fn lose_power(&mut self, _now: Time, plan: &Plan) {
        let Self {
            reader: _,
            failure_model: _,
            graded: _,
            slc: _,
            errors: _,
            failures,
            lost: _,
            regulation,
            annotations,
            decoding,
            due,
            error_draws: _,
            failing,
        } = self;
        *regulation = Regulation::new(plan);
        *annotations = annotations.take().map(|_| FxHashMap::default());
        decoding.clear();
        due.clear();
        **failing = Failures::new(failing.draws.clone());
        failing.is_ending = failures.read_only.is_some();
    }
}
