//! Counts of idle periods by the GC that used them.

use serde::{Deserialize, Serialize};
use wordline_ftl::{JobId, Mapping};
use wordline_kernel::Time;

use super::collector::Collector;
use super::job::Job;

/// Idle periods of an SSD, in which it held no request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleCounts {
    /// Idle periods that a request ended. Count.
    pub periods: u64,
    /// Idle periods in which an operation of a GC run started. Count.
    pub with_gc: u64,
    /// Idle periods in which AGC started an operation. Count.
    pub with_agc: u64,
    /// Idle periods in which DGC started an operation. Count.
    pub with_dgc: u64,
    /// Idle periods in which both AGC and DGC started an operation. Count.
    pub with_agc_and_dgc: u64,
    /// GC runs that AGC started and handed to DGC. Count.
    pub handed_over: u64,
}

wordline_kernel::since!(
    IdleCounts: periods, with_gc, with_agc, with_dgc, with_agc_and_dgc, handed_over
);
wordline_kernel::plus!(
    IdleCounts: periods, with_gc, with_agc, with_dgc, with_agc_and_dgc, handed_over
);

/// GC that started operations in the current idle period.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct IdleUse {
    gc: bool,
    agc: bool,
    dgc: bool,
}

impl IdleUse {
    fn add(&mut self, job: &Job) {
        self.gc |= job.collecting.is_some();
        self.agc |= job.is_of_agc();
        self.dgc |= job.is_of_dgc();
    }
    /// Counts an idle period with this use.
    pub fn count(self, counts: &mut IdleCounts) {
        counts.periods += 1;
        counts.with_gc += u64::from(self.gc);
        counts.with_agc += u64::from(self.agc);
        counts.with_dgc += u64::from(self.dgc);
        counts.with_agc_and_dgc += u64::from(self.agc && self.dgc);
    }
}

impl<M: Mapping> Collector<M> {
    /// Pauses a job at a preemption point. Under a schedule with DGC, the remaining steps of a GC
    /// run that AGC started go to the job list of DGC (Jung 2013, section 7.5.1.3).
    pub fn pause(&mut self, id: JobId) {
        self.jobs.pause(id);
        let has_dgc = self.puts_off;
        if let Some(job) = self.jobs.get(id)
            && has_dgc
            && job.is_of_agc()
        {
            job.handed_over = true;
            if let Some(idling) = &mut self.idling {
                idling.counts.handed_over += 1;
            }
        }
    }

    /// Ends the idle period, if there is one, at the arrival of a request.
    #[cold]
    #[inline(never)]
    pub fn end_idle_period(&mut self, now: Time) {
        if let Some(idling) = &mut self.idling
            && self.base.requests.serving() == 0
        {
            idling.ends(now);
        }
    }

    /// Handles the start of an operation of a job, which uses the idle period if there is one.
    #[inline]
    pub fn uses_idle_period(&mut self, id: JobId) {
        if self.idling.is_some() {
            self.use_idle_period(id);
        }
    }

    #[cold]
    #[inline(never)]
    fn use_idle_period(&mut self, id: JobId) {
        if let Some(idling) = &mut self.idling
            && self.base.requests.serving() == 0
            && let Some(job) = self.jobs.get(id)
        {
            idling.used.add(job);
        }
    }
}
