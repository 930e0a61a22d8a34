//! Steps of the mapping's jobs on the flash, and the operations that wait for them.

use wordline_content_oracle::{METADATA, NO_VERSION};
use wordline_ftl::{Bulk, JobId, Lpn, Mapping, Programmed, Step, SummaryPage};
use wordline_kernel::Time;
use wordline_nand::{Block, Ppn};

use super::Controller;
use super::base::Base;
use super::collector::Collector;
use super::job::{Job, Waiter};
use crate::backend::{Order, Purpose};
use crate::error::Result;
use crate::event::Context;
use crate::observation::{DeviceProbe, Observation};
use wordline_io_scheduler::Slot;

/// Job number of a summary program, for which no operation waits.
pub(super) const NO_JOB: u32 = u32::MAX;

impl<M: Mapping> Collector<M> {
    /// Handles a finished transaction of a job; returns `true` if the job is over.
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

    /// Lets an operation wait for the job that fetches a part of the map, and starts the job if
    /// necessary.
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
            assert!(!over, "a map fetch has at least one step");
        }
    }

    /// Continues a job for which a write or TRIM waits, and lets it run without further pauses.
    /// Returns the job if it is over.
    pub fn expedite(&mut self, cx: &mut Context<impl DeviceProbe>, id: JobId) -> Option<Job> {
        let job = self.jobs.get(id)?;
        job.stepwise = false;
        if !job.paused {
            return None;
        }
        self.jobs.unpause(id);
        self.run(cx, id).then(|| self.end(id)).flatten()
    }

    /// Unpauses and returns the next paused job that its schedule allows to continue. The search
    /// starts at index `place` and advances it.
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

    /// Returns `true` if the end of the device's life stops a job. Map fetches continue once the
    /// device is read-only.
    #[cold]
    fn stops_at_end(&mut self, id: JobId) -> bool {
        let fetches = |job: &mut Job| job.collecting.is_none();
        !self.base.conditions.is_read_only() || !self.jobs.get(id).is_some_and(fetches)
    }

    /// Starts the steps of a job until it has to wait; returns `true` if it is over. At the end of
    /// the device's life, only map fetches continue.
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
        let before = job.outstanding;
        let mut outstanding = before;
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
        if outstanding > before {
            self.uses_idle_period(id);
        }
        over
    }

    /// Reads all pages that a job has to move before its next step of another kind. Reads none
    /// unless the mapping knows these pages, pages are not tracked, and reads enter the queues of
    /// their dies directly. Returns the number of reads; 0 with copyback.
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

    /// Starts a step. Returns `false` if there is no operation to wait for.
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

    /// Erases a block as soon as no program in progress supersedes one of its pages. Does nothing
    /// at the end of the device's life.
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

    /// Handles the end of a program that superseded a page of `block`.
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

    /// Handles a page that a job has read to move; returns `true` if the job is over.
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
            self.pause(id);
            return false;
        }
        !self.program_copy(cx, id, from, content) && self.step_done(cx, id)
    }

    /// Programs the page that a job had read when it paused.
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

    /// Programs the copy of a page that GC has read, if the page is still current. The program
    /// continues the step that the read started. Returns `false` if the page is no longer current.
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
        self.uses_idle_period(id);
        true
    }

    /// Handles the erase of the block of `place`.
    pub fn block_erased(&mut self, cx: &mut Context<impl DeviceProbe>, place: Ppn, id: JobId) {
        let block = self.base.flash.layout.block_of(place);
        let erases = self.base.flash.array.erases()[block.index()];
        self.base.mapping.erased(block, erases);
        self.base.observe_free_blocks(cx);
        if let Some(job) = self.jobs.get(id) {
            job.erased += 1;
        }
    }

    /// Handles a page that has been moved; returns `true` if the job is over.
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

    /// Ends a step of a job. After the last step in progress, the job pauses, continues, or is
    /// over. Returns `true` if it is over.
    #[inline(always)]
    pub fn step_done(&mut self, cx: &mut Context<impl DeviceProbe>, id: JobId) -> bool {
        let Some(job) = self.jobs.get(id) else {
            return false;
        };
        job.outstanding -= 1;
        job.outstanding == 0 && self.steps_done(cx, id)
    }

    /// Handles a job without steps in progress; returns `true` if it is over.
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
            self.pause(id);
            return false;
        }
        self.run(cx, id)
    }
}

impl<M: Mapping> Base<M> {
    /// Issues an operation of a job, with its content.
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

    /// Programs the summaries of blocks that are now full. Called after a page was allocated and
    /// its program issued.
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
    /// Continues the paused jobs that their schedule allows to continue.
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

    /// Ends a job; operations that waited for it continue.
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
