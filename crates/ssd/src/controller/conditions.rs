//! Page conditions: program modes, read errors, and failures of programs and erases.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use wordline_ftl::program_mode::Regulator;
use wordline_kernel::{Rng, Time};
use wordline_nand::{Block, Ppn};
use wordline_reliability::{Due, ErrorDraws, Failing, Reader};

use super::errors::{ErrorCounts, ReadAnnotations};
use super::failures::{FailureCounts, Failures};
use super::loses_power::LosesPower;
use super::regulate::{Decoding, GradeCounts, Regulation};
use super::slc_cache::SlcCounts;
use crate::plan::Plan;

/// Program modes, read errors and failures of pages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Conditions {
    /// Model of read errors, if reads can have errors.
    pub reader: Option<Box<Reader>>,
    /// Model of program and erase failures, if programs and erases can fail.
    pub failure_model: Option<Box<Failing>>,
    /// Operations by program mode.
    pub graded: GradeCounts,
    /// Statistics of the SLC cache, if there is one.
    pub slc: Option<Box<SlcCounts>>,
    /// Counts of read errors.
    pub errors: ErrorCounts,
    /// Counts of failed programs and erases.
    pub failures: Box<FailureCounts>,
    /// Pages whose data were unreadable, completely or in part, when they were copied or completed,
    /// or could not be written.
    pub lost: FxHashSet<Ppn>,
    /// Regulation of program modes, if there are several.
    pub regulation: Option<Box<Regulation>>,
    /// Annotations of requests in progress, by ticket; `None` if the device has no page conditions.
    pub annotations: Option<Vec<ReadAnnotations>>,
    /// Pages being decoded.
    pub decoding: VecDeque<Decoding>,
    /// Blocks whose data must be moved, each listed once with the reason.
    pub due: Vec<(Block, Due)>,
    /// Random numbers of read errors.
    pub error_draws: ErrorDraws,
    /// Failures of operations in progress.
    pub failing: Box<Failures>,
}

impl Conditions {
    /// Creates the conditions of a new device.
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
            annotations: plan.has_page_conditions().then(Vec::new),
            decoding: VecDeque::new(),
            due: Vec::new(),
            error_draws: ErrorDraws::new(Rng::new(part.seed, "nand.errors")),
            failing: Box::new(Failures::new(Rng::new(part.seed, "nand.failures"))),
        }
    }

    /// Returns `true` if program modes depend on waiting requests.
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
        *annotations = annotations.take().map(|_| Vec::new());
        decoding.clear();
        due.clear();
        **failing = Failures::new(failing.draws.clone());
        failing.is_ending = failures.read_only.is_some();
    }
}
