//! The steps of the mapping's jobs on the flash, and what waits for their ends.

use wordline_ftl::{Bulk, JobId, Lpn, Mapping, Step, SummaryPage};
use wordline_kernel::Time;
use wordline_nand::{Block, Ppn};

use super::Controller;
use super::base::Base;
use super::collector::Collector;
use super::job::{Job, Waiter};
use super::verification::NO_VERSION;
use crate::backend::{Order, Purpose};
use crate::error::Result;
use crate::event::Context;
use crate::observation::{DeviceProbe, Observation};
use crate::programmed::Programmed;
use crate::shadow::METADATA;
use wordline_io_scheduler::Slot;

/// Nothing waits for the program of a summary.
pub(super) const NO_JOB: u32 = u32::MAX;

impl<M: Mapping> Collector<M> {
    /// A transaction of a job has left the back end; whether the job is over.
    #[inline(always)]
    pub fn finish(&mut self, cx: &mut Context<impl DeviceProbe>, slot: Slot) -> bool {
        let transaction = self.base.flash.backend.get(slot);
        let (purpose, place, id) = (
            transaction.purpose,
            transaction.place,
            JobId(transaction.owner),
        );
        self.base.flash.backend.release(slot);
        match purpose {
            Purpose::MoveRead => return self.move_page(cx, slot, place, id),
            Purpose::MoveProgram | Purpose::Move => return self.page_moved(cx, id),
            Purpose::Erase => self.block_erased(cx, place, id),
            Purpose::MetadataProgram | Purpose::MapProgram => {
                let of = if id.0 == NO_JOB {
                    Programmed::Summary
                } else {
                    Programmed::Map
                };
                self.base.page_programmed(cx, of);
            }
            _ => {}
        }
        self.step_done(cx, id)
    }

    /// What waits for a part of the map joins the job that fetches it, which begins if it has not.
    #[cold]
    pub fn wait_for_map(&mut self, cx: &mut Context<impl DeviceProbe>, id: JobId, waiter: Waiter) {
        let begins = self.jobs.get(id).is_none();
        if begins {
            self.jobs.start(cx.now, id, None, false);
        }
        if let Some(job) = self.jobs.get(id) {
            job.waiters.push(waiter);
        }
        if begins {
            let over = self.run(cx, id);
            assert!(!over, "a fetch has at least one step");
        }
    }

    /// A write waits for a job: it does not stop any more. The job, if it is over.
    pub fn expedite(&mut self, cx: &mut Context<impl DeviceProbe>, id: JobId) -> Option<Job> {
        let job = self.jobs.get(id)?;
        job.stepwise = false;
        if !job.paused {
            return None;
        }
        self.jobs.unpause(id);
        self.run(cx, id).then(|| self.end(id)).flatten()
    }

    /// The next job from `place` on, in the order in which they stopped, that its schedule lets continue; it is not stopped any more.
    pub fn resumable(&mut self, now: Time, place: &mut usize) -> Option<JobId> {
        while let Some(id) = self.jobs.paused(*place) {
            let collecting = self.jobs.get(id).and_then(|job| job.collecting);
            if collecting.is_some_and(|collecting| self.must_stop(now, collecting)) {
                *place += 1;
                continue;
            }
            self.jobs.unpause(id);
            return Some(id);
        }
        None
    }

    /// Whether the end of the device's life stops a job: all but those that read a part of the map, which go on once the device is
    /// read-only.
    #[cold]
    fn stops_at_end(&mut self, id: JobId) -> bool {
        let fetches = |job: &mut Job| job.collecting.is_none();
        !self.base.conditions.is_read_only() || !self.jobs.get(id).is_some_and(fetches)
    }

    /// Hands out the steps of a job until it has to wait; true if it is over. At the end of the device's life only those that read.
    pub fn run(&mut self, cx: &mut Context<impl DeviceProbe>, id: JobId) -> bool {
        if self.base.conditions.failing.is_ending && self.stops_at_end(id) {
            return false;
        }
        if let Some(held) = self.jobs.get(id).and_then(|job| job.page_read.take()) {
            self.program_page_read(cx, id, held);
        }
        let Some(job) = self.jobs.get(id) else {
            return false;
        };
        let (stepwise, of_map) = (job.stepwise, job.collecting.is_none());
        let mut outstanding = job.outstanding;
        if !stepwise {
            outstanding += self.read_all(cx, id);
        }
        let over = loop {
            if self.base.conditions.failing.is_ending && self.stops_at_end(id)
                || stepwise && outstanding > 0
            {
                break false;
            }
            match self.base.mapping.step(id) {
                Step::Done => break true,
                Step::Wait if outstanding > 0 => break false,
                Step::Wait => {}
                step => outstanding += u32::from(self.take(cx, id, of_map, step)),
            }
        };
        if let Some(job) = self.jobs.get(id) {
            job.outstanding = outstanding;
        }
        over
    }

    /// Reads all pages that a job has left to move before its next other step, as far as the mapping
    /// says them at once and they go straight to their dies; how many.
    #[inline]
    pub fn read_all(&mut self, cx: &mut Context<impl DeviceProbe>, id: JobId) -> u32 {
        if self.internal_data_move || self.base.follows || self.base.flash.issue.is_some() {
            return 0;
        }
        let layout = &self.base.flash.layout;
        let backend = &mut self.base.flash.backend;
        let Some(bulk) = self.base.mapping.bulk() else {
            return 0;
        };
        let mut reads = 0;
        bulk.read_all(id, |plane, from| {
            let order = Order::new(Purpose::MoveRead, from, id.0, 0);
            backend.enqueue(cx, layout.die_of(plane), &order);
            reads += 1;
        });
        reads
    }

    /// Carries a step out; false if there is nothing to wait for.
    #[inline]
    pub fn take(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        id: JobId,
        of_map: bool,
        step: Step,
    ) -> bool {
        let order = match step {
            Step::Move(from) if self.internal_data_move => {
                let Some(target) = self.base.mapping.relocate(id, from) else {
                    return false;
                };
                self.base.observe_free_blocks(cx);
                Order {
                    target,
                    ..Order::new(Purpose::Move, from, id.0, 0)
                }
            }
            Step::Move(from) => Order::new(Purpose::MoveRead, from, id.0, 0),
            Step::Read(place) => {
                let purpose = if of_map {
                    Purpose::MapRead
                } else {
                    Purpose::MetadataRead
                };
                cx.observe(Observation::MetadataPage { program: false });
                Order::new(purpose, place, id.0, 0)
            }
            Step::Program { place, label } => {
                let purpose = if of_map {
                    Purpose::MapProgram
                } else {
                    Purpose::MetadataProgram
                };
                cx.observe(Observation::MetadataPage { program: true });
                self.base.observe_free_blocks(cx);
                Order::new(purpose, place, id.0, label)
            }
            Step::Erase(block) => {
                self.erase(cx, id, block);
                return true;
            }
            Step::Wait | Step::Done => return false,
        };
        self.base.issue_for_job(cx, &order, METADATA);
        self.base.summarize(cx);
        true
    }

    /// Erases a block, once nothing on its way supersedes a page of it.
    #[inline(never)]
    pub fn erase(&mut self, cx: &mut Context<impl DeviceProbe>, id: JobId, block: Block) {
        if self.base.conditions.failing.is_ending {
            return;
        }
        if self.base.flash.superseding[block.index()] > 0 {
            self.jobs.defer_erase(id, block);
            self.base.flash.commit_superseding(cx, block);
            return;
        }
        let first = self.base.flash.layout.page(block, 0);
        let order = Order::new(Purpose::Erase, first, id.0, 0);
        self.base.issue_for_job(cx, &order, 0);
    }

    /// A program that supersedes a page of `block` is done.
    #[inline(always)]
    pub fn is_superseded(&mut self, cx: &mut Context<impl DeviceProbe>, block: Block) {
        let superseding = &mut self.base.flash.superseding[block.index()];
        *superseding -= 1;
        if *superseding == 0
            && let Some(id) = self.jobs.take_deferred_erase(block)
        {
            self.erase(cx, id, block);
        }
    }

    /// A page that a job moves has been read; whether the job is over.
    pub fn move_page(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        slot: Slot,
        from: Ppn,
        id: JobId,
    ) -> bool {
        let content = self.base.contents.of(slot).unwrap_or_default();
        let Some(job) = self.jobs.get(id) else {
            return false;
        };
        let (stepwise, collecting) = (job.stepwise, job.collecting);
        if stepwise && collecting.is_some_and(|collecting| self.must_stop(cx.now, collecting)) {
            if let Some(job) = self.jobs.get(id) {
                job.page_read = Some((from, content));
                job.outstanding -= 1;
            }
            self.jobs.pause(id);
            return false;
        }
        !self.program_copy(cx, id, from, content) && self.step_done(cx, id)
    }

    /// The same with the page and the content that a job that had stopped has in hand.
    #[cold]
    pub fn program_page_read(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        id: JobId,
        held: (Ppn, u64),
    ) {
        let (from, content) = held;
        let begun = self.program_copy(cx, id, from, content);
        if let Some(job) = self.jobs.get(id) {
            job.outstanding += u32::from(begun);
        }
    }

    /// Programs the copy of a page that has been read, if it is still the current one; the step that
    /// has begun with the read goes on.
    #[inline(always)]
    pub fn program_copy(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        id: JobId,
        from: Ppn,
        content: u64,
    ) -> bool {
        let Some(to) = self.base.mapping.relocate(id, from) else {
            return false;
        };
        self.base.observe_free_blocks(cx);
        let order = Order::new(Purpose::MoveProgram, to, id.0, from.0);
        self.base.issue_for_job(cx, &order, content);
        self.base.summarize(cx);
        true
    }

    /// The block of `place` is erased.
    pub fn block_erased(&mut self, cx: &mut Context<impl DeviceProbe>, place: Ppn, id: JobId) {
        let block = self.base.flash.layout.block_of(place);
        let erases = self.base.flash.array.erases()[block.index()];
        self.base.mapping.erased(block, erases);
        self.base.observe_free_blocks(cx);
        if let Some(job) = self.jobs.get(id) {
            job.erased += 1;
        }
    }

    /// A page has been moved; whether the job is over.
    #[inline]
    pub fn page_moved(&mut self, cx: &mut Context<impl DeviceProbe>, id: JobId) -> bool {
        let mut of = Programmed::Gc;
        if let Some(job) = self.jobs.get(id) {
            job.moved += 1;
            of = job
                .collecting
                .map_or(of, |collecting| collecting.kind.into());
        }
        self.base.page_programmed(cx, of);
        self.step_done(cx, id)
    }

    /// A step of a job is done: with the last one on its way, it stops, continues, or is over; whether it is over.
    #[inline(always)]
    pub fn step_done(&mut self, cx: &mut Context<impl DeviceProbe>, id: JobId) -> bool {
        let Some(job) = self.jobs.get(id) else {
            return false;
        };
        job.outstanding -= 1;
        job.outstanding == 0 && self.steps_done(cx, id)
    }

    /// No step of a job is on its way any more; whether it is over.
    #[inline(never)]
    pub fn steps_done(&mut self, cx: &mut Context<impl DeviceProbe>, id: JobId) -> bool {
        let Some(job) = self.jobs.get(id) else {
            return false;
        };
        let (stepwise, collecting) = (job.stepwise, job.collecting);
        if stepwise
            && collecting.is_some_and(|collecting| self.must_stop(cx.now, collecting))
            && !self.base.mapping.is_over(id)
        {
            self.jobs.pause(id);
            return false;
        }
        self.run(cx, id)
    }
}

impl<M: Mapping> Base<M> {
    /// Puts an operation of a job on its way, with the content that it carries.
    #[inline(always)]
    pub fn issue_for_job(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        order: &Order,
        content: u64,
    ) {
        let slot = self.issue(cx, order);
        if self.follows {
            self.follow_job(slot, *order, content);
        }
    }

    #[cold]
    pub fn follow_job(&mut self, slot: Slot, order: Order, content: u64) {
        if let Some(journal) = &mut self.contents.journal {
            let carried = &mut self.contents.carried;
            match order.purpose {
                Purpose::MoveProgram | Purpose::Rewrite => {
                    carried.carry_copy(journal, slot, Ppn(order.tag));
                }
                Purpose::Move => carried.carry_copy(journal, slot, order.place),
                Purpose::MetadataProgram | Purpose::MapProgram => {
                    let label = self.mapping.label(Lpn(order.tag));
                    carried.carry_metadata(journal, slot, order.tag, label);
                }
                _ => {}
            }
        }
        if let Some(verification) = &mut self.contents.verification {
            verification.note(slot, content, NO_VERSION);
        }
    }

    /// A page has been placed and its program handed out: blocks that it has filled get their summaries.
    #[inline(always)]
    pub fn summarize(&mut self, cx: &mut Context<impl DeviceProbe>) {
        if M::SUMMARIZES {
            self.program_summaries(cx);
        }
    }

    #[inline(never)]
    fn program_summaries(&mut self, cx: &mut Context<impl DeviceProbe>) {
        while let Some(page) = self.mapping.summary() {
            self.program_summary(cx, page);
        }
    }

    fn program_summary(&mut self, cx: &mut Context<impl DeviceProbe>, page: SummaryPage) {
        cx.observe(Observation::MetadataPage { program: true });
        let order = Order::new(
            Purpose::MapProgram,
            page.place,
            NO_JOB,
            page.of.len() as u32,
        );
        let slot = self.issue(cx, &order);
        if self.follows {
            self.contents.carried.carry_summary(slot, page);
            if let Some(verification) = &mut self.contents.verification {
                verification.note(slot, METADATA, NO_VERSION);
            }
        }
    }
}

impl<M: Mapping> Controller<M> {
    /// Jobs that have stopped go on, if their schedule has nothing against it.
    #[cold]
    pub(super) fn resume(&mut self, cx: &mut Context<impl DeviceProbe>) -> Result<()> {
        let mut place = 0;
        while let Some(id) = self.gc.resumable(cx.now, &mut place) {
            if self.gc.run(cx, id) {
                self.job_over(cx, id)?;
            }
        }
        Ok(())
    }

    /// A job is over: what waited for it goes on.
    pub(super) fn job_over(&mut self, cx: &mut Context<impl DeviceProbe>, id: JobId) -> Result<()> {
        let Some(job) = self.gc.end(id) else {
            return Ok(());
        };
        for waiter in &job.waiters {
            self.map_read(cx, *waiter)?;
        }
        self.collection_over(cx, &job);
        Ok(())
    }
}
