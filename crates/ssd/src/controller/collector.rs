//! The part of the controller that carries out the mapping's jobs: collections, and reads and writes of the map.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use wordline_ftl::gc::schedule::Scheduling;
use wordline_ftl::refresh::Steps;
use wordline_ftl::{GcKind, JobId};
use wordline_kernel::Time;
use wordline_nand::{Block, Plane};

use super::base::Base;
use super::die_loads::DieLoads;
use super::idle::Idling;
use super::job::{Job, Jobs};
use super::pending::PageTrim;
use super::power::LosesPower;
use crate::plan::Plan;

/// Jobs in progress, and what waits for the room that they make.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Collector {
    /// Whether collections move pages inside their planes.
    pub internal_data_move: bool,
    pub scheduling: Scheduling,
    /// Whether what free blocks call for is put off while the host is being served, and noted.
    pub puts_off: bool,
    /// What the host comes between where data is refreshed.
    pub refresh_steps: Steps,
    pub reserve_blocks: u32,
    pub jobs: Jobs,
    pub die_loads: DieLoads,
    /// What the device does when it is idle; `None` if its schedule never asks.
    pub idling: Option<Box<Idling>>,
    /// By plane: writes that wait for room in it, by their places among the pending ones.
    pub stalled: Vec<VecDeque<u32>>,
    /// Writes that wait for a block anywhere.
    pub stalled_anywhere: VecDeque<u32>,
    /// By plane: blocks that wait to be erased, and the pages that wait for it; empty where nothing is erased for a TRIM.
    pub erasing: Vec<VecDeque<(Block, PageTrim)>>,
    pub waiting_erases: u32,
}

impl Collector {
    pub fn new(plan: &Plan) -> Self {
        let planes = plan.part.layout.planes() as usize;
        let schedule = &plan.ftl.config.gc.schedule;
        let erases = plan.ftl.config.trim.answer.policy().erases();
        Self {
            internal_data_move: plan.internal_data_move,
            scheduling: schedule.clone(),
            puts_off: schedule.policy().puts_off(),
            refresh_steps: plan.ftl.config.refresh.steps,
            reserve_blocks: plan.ftl.reserve_blocks,
            jobs: Jobs::new(planes),
            die_loads: DieLoads::new(plan),
            idling: Idling::new(plan),
            stalled: vec![VecDeque::new(); planes],
            stalled_anywhere: VecDeque::new(),
            erasing: vec![VecDeque::new(); if erases { planes } else { 0 }],
            waiting_erases: 0,
        }
    }
}

impl Collector {
    /// Writes that wait for room, by their places among the pending ones.
    pub fn waiting_for_room(&self) -> impl Iterator<Item = &u32> {
        self.stalled.iter().flatten().chain(&self.stalled_anywhere)
    }
    /// Whether a write or a TRIM waits for what is collected on a plane.
    pub fn is_awaited(&self, plane: Plane) -> bool {
        let erasing = self.erasing.get(plane.index());
        !self.stalled[plane.index()].is_empty()
            || !self.stalled_anywhere.is_empty()
            || erasing.is_some_and(|waiting| !waiting.is_empty())
    }
    /// A job is over.
    pub fn end<M>(&mut self, base: &mut Base<M>, id: JobId) -> Option<Job> {
        let job = self.jobs.end(id)?;
        if let Some(collecting) = &job.collecting
            && collecting.kind == GcKind::Refresh
        {
            let refreshing = &mut base.flash.refreshing;
            refreshing.retain(|plane| *plane != collecting.plane);
        }
        Some(job)
    }
}

impl LosesPower for Collector {
    fn lose_power(&mut self, now: Time, plan: &Plan) {
        let Self {
            internal_data_move: _,
            scheduling: _,
            puts_off: _,
            refresh_steps: _,
            reserve_blocks: _,
            jobs,
            die_loads,
            idling,
            stalled,
            stalled_anywhere,
            erasing,
            waiting_erases,
        } = self;
        *jobs = Jobs::new(stalled.len());
        *die_loads = DieLoads::new(plan);
        *idling = Idling::new(plan);
        if let Some(idling) = idling {
            idling.wake(now);
        }
        stalled.iter_mut().for_each(VecDeque::clear);
        stalled_anywhere.clear();
        erasing.iter_mut().for_each(VecDeque::clear);
        *waiting_erases = 0;
    }
}
