//! TRIMs: the pages that they free, and the work before their completion.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use wordline_block::{Op, Request, Ticket};
use wordline_dram_buffer::Span;
use wordline_ftl::gc::schedule::Trigger;
use wordline_ftl::trim::frees::whole_pages;
use wordline_ftl::trim::{Free, Run};
use wordline_ftl::{JobId, Lpn, Mapping};
use wordline_nand::{Block, Plane};

use super::Controller;
use super::base::Base;
use super::collector::Collector;
use super::job::{Job, Waiter};
use super::pending::{PageTrim, PageWrite};
use crate::event::Context;
use crate::observation::{DeviceProbe, Observation, PageComponents};
use crate::plan::Plan;

/// TRIMs that wait for flash, and the state between TRIMs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Trims {
    /// Whether the map in flash is updated before a TRIM completes.
    pub writes_map: bool,
    /// Open run of consecutive TRIMs. `None` if each TRIM frees only its own range, regardless of
    /// the TRIMs before it.
    pub run: Option<Run>,
    /// Whether more pages of the same TRIM follow, so that the map in flash is written once for all
    /// of them.
    pub gathering: bool,
    /// Pages that wait for a job of the mapping that has not started.
    mapped: Vec<(JobId, PageTrim)>,
}

impl Trims {
    pub fn new(plan: &Plan) -> Self {
        let trim = &plan.ftl.config.trim;
        Self {
            writes_map: trim.answer.policy().writes_map(),
            run: trim.frees.run(plan.page_bytes.into(), plan.user_bytes()),
            gathering: false,
            mapped: Vec::new(),
        }
    }

    /// Reports a TRIM that starts, and returns the range whose whole pages it frees: its own bytes,
    /// or the mapping units that the run of TRIMs has completed with it. May be empty.
    pub fn trim_frees(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        page_bytes: u64,
        request: &Request,
    ) -> Range<u64> {
        let bytes = request.offset..request.offset + request.bytes;
        let covered = whole_pages(bytes.clone(), page_bytes);
        let pages = covered.end - covered.start;
        cx.observe(Observation::TrimBegun { pages });
        match &mut self.run {
            Some(run) => run.trim(bytes),
            None => bytes,
        }
    }

    /// Records a write that starts while a run of TRIMs may be open.
    #[cold]
    pub fn trim_run_written(&mut self, request: &Request) {
        if let Some(run) = &mut self.run {
            run.write(request.offset..request.offset + request.bytes);
        }
    }

    /// Trims a page and updates the map in flash.
    #[cold]
    pub fn discard_through<M: Mapping>(
        &mut self,
        gc: &mut Collector<M>,
        cx: &mut Context<impl DeviceProbe>,
        write: &PageWrite,
    ) {
        let job = gc.base.mapping.trim_through(write.page);
        gc.base.trimmed(cx, write);
        let Some(job) = job else {
            return gc.page_done(cx, write.owner, write.parts);
        };
        let trim = PageTrim::of(cx.now, write);
        self.mapped.push((job, trim));
        if !self.gathering {
            self.end_trims(gc, cx);
        }
    }

    /// Lets the pages of a TRIM wait for the jobs that write their parts of the map.
    pub fn end_trims<M: Mapping>(
        &mut self,
        gc: &mut Collector<M>,
        cx: &mut Context<impl DeviceProbe>,
    ) {
        self.gathering = false;
        for (job, trim) in std::mem::take(&mut self.mapped) {
            gc.wait_for_map_write(cx, job, trim);
        }
    }

    /// Ends the TRIMs that wait for an erase or for the map in flash with an error, because the
    /// device is read-only.
    #[cold]
    pub fn refuse<M: Mapping>(
        &mut self,
        gc: &mut Collector<M>,
        cx: &mut Context<impl DeviceProbe>,
    ) {
        let mut refused = gc.take_trims();
        refused.extend(self.mapped.drain(..).map(|(_, trim)| trim));
        gc.jobs.take_trims(&mut refused);
        for trim in refused {
            gc.base.conditions.fail_write(trim.owner);
            gc.trim_done(cx, trim);
        }
    }
}

impl<M: Mapping> Base<M> {
    fn trimmed(&mut self, cx: &mut Context<impl DeviceProbe>, write: &PageWrite) {
        cx.observe(Observation::PageTrimmed);
        if let Some(verification) = &mut self.contents.verification {
            let oracle = &mut verification.oracle;
            oracle.acknowledge(cx.now, write.page, write.version);
        }
    }
}

impl<M: Mapping> Collector<M> {
    /// Trims a page whose map entry is in memory. Returns the job that delayed the erase, if it is
    /// over.
    #[cold]
    pub fn discard(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        write: &PageWrite,
    ) -> Option<Job> {
        let place = self.base.mapping.lookup(write.page);
        self.base.mapping.trim(write.page);
        self.base.trimmed(cx, write);
        let block = place.map(|place| self.base.flash.layout.block_of(place));
        let erases = |block: &Block| !self.erasing.is_empty() && self.base.mapping.is_spent(*block);
        match block.filter(erases) {
            Some(_) if self.base.conditions.is_read_only() => self.refuse(cx, write),
            Some(block) => {
                let trim = PageTrim::of(cx.now, write);
                return self.erase_for_trim(cx, block, trim);
            }
            None => self.page_done(cx, write.owner, write.parts),
        }
        None
    }

    /// Lets a trimmed page wait for the job that writes its part of the map. A job that has no
    /// space is over at once; the change then stays in memory.
    pub fn wait_for_map_write(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        id: JobId,
        trim: PageTrim,
    ) {
        if let Some(job) = self.jobs.get(id) {
            job.waiters.push(Waiter::Trim(trim));
            return;
        }
        self.jobs.start(cx.now, id, None, false);
        if self.run(cx, id) {
            self.jobs.end(id);
            self.trim_done(cx, trim);
        } else if let Some(job) = self.jobs.get(id) {
            job.waiters.push(Waiter::Trim(trim));
        }
    }

    /// Completes a trimmed page whose wait is over.
    pub fn trim_done(&mut self, cx: &mut Context<impl DeviceProbe>, trim: PageTrim) {
        let PageTrim {
            owner,
            mut parts,
            since,
        } = trim;
        parts.die_wait += cx.now - since;
        self.page_done(cx, owner, parts);
    }

    /// Erases a block without valid pages as soon as GC of its plane is over. Returns the job that
    /// delayed it, if it is over.
    pub fn erase_for_trim(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        block: Block,
        trim: PageTrim,
    ) -> Option<Job> {
        let plane = self.base.flash.layout.plane_of(block);
        self.erasing[plane.index()].push_back((block, trim));
        self.waiting_erases += 1;
        if self.jobs.collects(plane) {
            return self.expedite(cx, JobId::of(plane));
        }
        self.erase_for_trims(cx, plane);
        None
    }

    /// Erases the next block of a plane for which TRIMs wait, if GC of the plane is not in
    /// progress. Skips blocks that GC has erased since.
    pub fn erase_for_trims(&mut self, cx: &mut Context<impl DeviceProbe>, plane: Plane) {
        while !self.jobs.collects(plane)
            && let Some((block, trim)) = self.erasing[plane.index()].pop_front()
        {
            self.waiting_erases -= 1;
            let Some(collection) = self.base.mapping.clear(block) else {
                self.trim_done(cx, trim);
                continue;
            };
            let job = collection.job;
            self.begin_collection(cx, plane, collection, Trigger::Trim);
            if let Some(job) = self.jobs.get(job) {
                job.waiters.push(Waiter::Trim(trim));
            }
        }
    }

    /// Takes the TRIMs that wait for erases.
    pub fn take_trims(&mut self) -> Vec<PageTrim> {
        self.waiting_erases = 0;
        let waiting = self.erasing.iter_mut().flat_map(std::mem::take);
        waiting.map(|(_, trim)| trim).collect()
    }
}

impl<M: Mapping> Controller<M> {
    /// Starts a flush or a TRIM.
    #[cold]
    pub(super) fn begin_dataless(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        ticket: Ticket,
        request: &Request,
    ) {
        if request.op == Op::Flush {
            // All completed writes are in flash, so the flush is done at once.
            self.expect(cx.now, ticket, 1, request.op);
            self.gc.page_done(cx, ticket, PageComponents::NONE);
            return;
        }
        let bytes = self.trims.trim_frees(cx, self.gc.base.page_bytes, request);
        let pages = whole_pages(bytes, self.gc.base.page_bytes);
        let count = (pages.end - pages.start) as u32;
        self.expect(cx.now, ticket, count.max(1), request.op);
        if count == 0 {
            return self.gc.page_done(cx, ticket, PageComponents::NONE);
        }
        let all = Span {
            from: 0,
            bytes: self.gc.base.page_bytes as u32,
            written: 0,
            whole: true,
        };
        self.trims.gathering = true;
        for page in pages {
            self.write(cx, ticket, Lpn(page as u32), all, true);
        }
        self.trims.end_trims(&mut self.gc, cx);
    }
}
