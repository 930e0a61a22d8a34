//! Base layer of the controller, on which all other layers work.

use serde::{Deserialize, Serialize};
use wordline_ftl::first_reads::FirstReads;
use wordline_ftl::{Lpn, Mapping};
use wordline_kernel::Time;

use super::conditions::Conditions;
use super::contents::Contents;
use super::flash::Flash;
use super::loses_power::LosesPower;
use super::requests::Requests;
use crate::event::Context;
use crate::observation::{DeviceProbe, Observation};
use crate::plan::Plan;

/// The map, the flash, the conditions of its pages, and the requests in the device.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools)] // properties of the plan that are independent of each other
pub(super) struct Base<M> {
    pub page_bytes: u64,
    /// Whether the content or the mode of each page is tracked: for verification, spare areas,
    /// first-read placement, or page conditions.
    pub follows: bool,
    /// Whether operations depend on the modes or errors of their pages, or may fail.
    pub has_page_conditions: bool,
    /// Whether operations enter the queues of their dies at once and have no page conditions.
    pub dispatches_directly: bool,
    /// Whether a scheduler or the regulation of program modes is notified of requests that start.
    pub announces_requests: bool,
    /// Map of logical to physical pages. Volatile: it is rebuilt from flash after a power cut.
    pub mapping: M,
    pub flash: Flash,
    pub conditions: Conditions,
    pub contents: Contents,
    pub requests: Requests,
    /// Free blocks at the last observation. Count.
    pub free_blocks: u32,
    /// First-read placement of data from before the run, if enabled.
    pub first_reads: Option<Box<FirstReads>>,
}

impl<M: Mapping> Base<M> {
    pub fn new(plan: &Plan, mapping: M) -> Self {
        let conditions = Conditions::new(plan);
        Self {
            page_bytes: u64::from(plan.page_bytes),
            follows: plan.has_page_conditions() || plan.first_read_pages > 0,
            has_page_conditions: plan.has_page_conditions(),
            dispatches_directly: !plan.has_page_conditions() && !plan.is_scheduled(),
            announces_requests: plan.is_scheduled() || conditions.regulation.is_some(),
            flash: Flash::new(plan, conditions.asks_for_queue()),
            conditions,
            contents: Contents::default(),
            requests: Requests::default(),
            free_blocks: mapping.free_blocks(),
            mapping,
            first_reads: FirstReads::new(plan.first_read_pages),
        }
    }

    /// Places a page that is about to be read for the first time, if first-read placement is
    /// enabled.
    pub fn before_read(&mut self, page: Lpn) {
        let Some(first) = &mut self.first_reads else {
            return;
        };
        if let Some((from, place)) = first.before_read(&mut self.mapping, page)
            && let Some(verification) = &mut self.contents.verification
        {
            verification.oracle.exchange(from, place);
        }
    }

    /// Records that a page is about to be written, so that no later read places it, if first-read
    /// placement is enabled.
    pub fn before_write(&mut self, page: Lpn) {
        if let Some(first) = &mut self.first_reads {
            first.before_write(&self.mapping, page);
        }
    }

    /// Reports the number of free blocks to the probe if it has changed. Called after every
    /// operation that takes or returns a block.
    #[inline]
    pub fn observe_free_blocks(&mut self, cx: &mut Context<impl DeviceProbe>) {
        let free = self.mapping.free_blocks();
        if free != self.free_blocks {
            self.free_blocks = free;
            cx.observe(Observation::FreeBlocks { free });
        }
    }
}

impl<M: Mapping> LosesPower for Base<M> {
    fn lose_power(&mut self, now: Time, plan: &Plan) {
        let Self {
            page_bytes: _,
            follows: _,
            has_page_conditions: _,
            dispatches_directly: _,
            announces_requests: _,
            mapping,
            flash,
            conditions,
            contents,
            requests,
            free_blocks,
            first_reads: _,
        } = self;
        flash.lose_power(now, plan);
        conditions.lose_power(now, plan);
        contents.lose_power(now, plan);
        *requests = Requests::default();
        *free_blocks = mapping.free_blocks();
    }
}
