//! Collector layer of the controller: executes the mapping's jobs, which are GC runs and map reads
//! and writes.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use wordline_ftl::gc::schedule::Scheduling;
use wordline_ftl::refresh::Steps;
use wordline_ftl::slc_cache::Caches;
use wordline_ftl::{GcKind, JobId, Mapping};
use wordline_kernel::Time;
use wordline_nand::{Block, Plane};

use super::base::Base;
use super::die_loads::DieLoads;
use super::idle::Idling;
use super::job::{Job, Jobs};
use super::loses_power::LosesPower;
use super::pending::{PageTrim, Stalled};
use crate::plan::Plan;

/// Jobs in progress, and the operations that wait for them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Collector<M> {
    pub base: Base<M>,
    /// Whether GC moves pages by copyback.
    pub internal_data_move: bool,
    pub scheduling: Scheduling,
    /// Whether GC that a lack of free blocks requires is deferred and recorded while the host is
    /// served.
    pub puts_off: bool,
    /// Whether every job pauses while the device serves a request, unless a write waits for it.
    pub yields_to_requests: bool,
    /// Preemption of read reclaim and refresh.
    pub refresh_steps: Steps,
    pub reserve_blocks: u32,
    pub jobs: Jobs,
    pub die_loads: DieLoads,
    /// Use of idle time; `None` if neither the schedule nor an SLC cache uses it.
    pub idling: Option<Box<Idling>>,
    pub stalled: Stalled,
    /// Blocks that wait for their erase, each with the trimmed page that waits for it, by plane.
    /// Empty if TRIMs do not erase.
    pub erasing: Vec<VecDeque<(Block, PageTrim)>>,
    pub waiting_erases: u32,
}

/// Returns `true` if the schedule pauses every job while the device serves a request. Folds of the
/// SLC cache, and refresh by pages, have their own rules.
fn yields_to_requests(plan: &Plan) -> bool {
    let config = &plan.ftl.config;
    let folds = config.slc_cache.size().is_some();
    let by_page = config.refresh.steps == Steps::Page;
    config.gc.schedule.policy().yields_to_requests() && !folds && !by_page
}

impl<M: Mapping> Collector<M> {
    pub fn new(plan: &Plan, mapping: M) -> Self {
        let planes = plan.part.layout.planes() as usize;
        let schedule = &plan.ftl.config.gc.schedule;
        let erases = plan.ftl.config.trim.answer.policy().erases();
        Self {
            base: Base::new(plan, mapping),
            internal_data_move: plan.internal_data_move,
            scheduling: schedule.clone(),
            puts_off: schedule.policy().puts_off(),
            yields_to_requests: yields_to_requests(plan),
            refresh_steps: plan.ftl.config.refresh.steps,
            reserve_blocks: plan.ftl.reserve_blocks,
            jobs: Jobs::new(planes),
            die_loads: DieLoads::new(plan),
            idling: Idling::new(plan),
            stalled: Stalled::new(planes),
            erasing: vec![VecDeque::new(); if erases { planes } else { 0 }],
            waiting_erases: 0,
        }
    }

    /// Returns `true` if a write or a TRIM waits for GC of a plane.
    pub fn is_awaited(&self, plane: Plane) -> bool {
        let erasing = self.erasing.get(plane.index());
        self.stalled.awaits(plane) || erasing.is_some_and(|waiting| !waiting.is_empty())
    }
    /// Returns `true` if a paused job may continue. Its schedule still decides.
    #[inline]
    pub fn may_resume(&self) -> bool {
        let stays = self.yields_to_requests && self.base.requests.serving() > 0;
        self.jobs.any_paused() && !stays
    }
    /// Removes a job that is over, and returns it.
    pub fn end(&mut self, id: JobId) -> Option<Job> {
        let job = self.jobs.end(id)?;
        if let Some(collecting) = &job.collecting
            && collecting.kind == GcKind::Refresh
        {
            let refreshing = &mut self.base.flash.refreshing;
            refreshing.retain(|plane| *plane != collecting.plane);
        }
        Some(job)
    }
}

impl<M: Mapping> LosesPower for Collector<M> {
    fn lose_power(&mut self, now: Time, plan: &Plan) {
        let Self {
            base,
            internal_data_move: _,
            scheduling: _,
            puts_off: _,
            yields_to_requests: _,
            refresh_steps: _,
            reserve_blocks: _,
            jobs,
            die_loads,
            idling,
            stalled,
            erasing,
            waiting_erases,
        } = self;
        base.lose_power(now, plan);
        *jobs = Jobs::new(stalled.planes.len());
        *stalled = Stalled::new(stalled.planes.len());
        *die_loads = DieLoads::new(plan);
        if let Some(idling) = idling {
            idling.lose_power(now);
        }
        erasing.iter_mut().for_each(VecDeque::clear);
        *waiting_erases = 0;
    }
}
