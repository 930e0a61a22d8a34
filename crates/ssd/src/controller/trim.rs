//! TRIMs: which pages they free, and what is done before they are answered.

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
use super::job::Waiter;
use super::pending::{PageTrim, PageWrite};
use crate::event::Context;
use crate::observation::{DeviceProbe, Observation, PageParts};
use crate::plan::Plan;

/// TRIMs that wait for the flash, and what is remembered of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Trims {
    /// Whether parts of the map in flash are brought up to date before the answer.
    pub writes_map: bool,
    /// The run that TRIMs go on with, if whole mapping units are freed along it only.
    pub run: Option<Run>,
    /// Whether more pages of the same TRIM are to come, so that the map in flash is written once for all.
    pub gathering: bool,
    /// Pages that wait for a job of the mapping which has not begun.
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
}

impl<M: Mapping> Controller<M> {
    /// Begins with a flush or a TRIM.
    #[cold]
    pub(super) fn begin_dataless(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        ticket: Ticket,
        request: &Request,
    ) {
        if request.op == Op::Flush {
            // What is done is in the flash.
            self.expect(ticket, 1, request.op);
            self.page_done(cx, ticket, PageParts::NONE);
            return;
        }
        let bytes = self.trim_frees(cx, request);
        let pages = whole_pages(bytes, self.base.page_bytes);
        let count = (pages.end - pages.start) as u32;
        self.expect(ticket, count.max(1), request.op);
        if count == 0 {
            return self.page_done(cx, ticket, PageParts::NONE);
        }
        let all = Span {
            from: 0,
            bytes: self.base.page_bytes as u32,
            written: 0,
            whole: true,
        };
        self.trims.gathering = true;
        for page in pages {
            self.write(cx, ticket, Lpn(page as u32), all, true);
        }
        self.end_trims(cx);
    }

    /// What a TRIM frees now, of its own range or of what it completes.
    pub fn trim_frees(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        request: &Request,
    ) -> Range<u64> {
        let bytes = request.offset..request.offset + request.bytes;
        let covered = whole_pages(bytes.clone(), self.base.page_bytes);
        let pages = covered.end - covered.start;
        cx.observe(Observation::TrimBegun { pages });
        match &mut self.trims.run {
            Some(run) => run.trim(bytes),
            None => bytes,
        }
    }

    /// A write begins while a run of TRIMs may be open.
    #[cold]
    pub fn trim_run_written(&mut self, request: &Request) {
        if let Some(run) = &mut self.trims.run {
            run.write(request.offset..request.offset + request.bytes);
        }
    }

    /// Trims a page whose map entry is in memory.
    #[cold]
    pub(super) fn discard(&mut self, cx: &mut Context<impl DeviceProbe>, write: &PageWrite) {
        let place = self.base.mapping.lookup(write.page);
        self.base.mapping.trim(write.page);
        self.trimmed(cx, write);
        let block = place.map(|place| self.base.flash.layout.block_of(place));
        match block.filter(|block| {
            !self.collector.erasing.is_empty() && self.base.mapping.is_spent(*block)
        }) {
            Some(_) if self.is_read_only() => self.refuse(cx, write),
            Some(block) => self.erase_for_trim(cx, block, PageTrim::of(cx.now, write)),
            None => self.page_done(cx, write.owner, write.parts),
        }
    }

    /// Trims a page, and has the map in flash say so.
    #[cold]
    pub(super) fn discard_through(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        write: &PageWrite,
    ) {
        let job = self.base.mapping.trim_through(write.page);
        self.trimmed(cx, write);
        let Some(job) = job else {
            return self.page_done(cx, write.owner, write.parts);
        };
        let trim = PageTrim::of(cx.now, write);
        self.trims.mapped.push((job, trim));
        if !self.trims.gathering {
            self.end_trims(cx);
        }
    }

    fn trimmed(&mut self, cx: &mut Context<impl DeviceProbe>, write: &PageWrite) {
        cx.observe(Observation::PageTrimmed);
        if let Some(verification) = &mut self.base.contents.verification {
            let shadow = &mut verification.shadow;
            shadow.acknowledge(cx.now, write.page, write.version);
        }
    }

    /// No more pages of a TRIM are to come now: the parts of the map that list those that came are written.
    pub fn end_trims(&mut self, cx: &mut Context<impl DeviceProbe>) {
        self.trims.gathering = false;
        for (job, trim) in std::mem::take(&mut self.trims.mapped) {
            self.wait_for_map_write(cx, job, trim);
        }
    }

    /// A trimmed page joins the job that writes the part of the map that lists it. A job that cannot, for want of room, is over at once: the
    /// change stays in memory.
    fn wait_for_map_write(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        id: JobId,
        trim: PageTrim,
    ) {
        if let Some(job) = self.collector.jobs.get(id) {
            job.waiters.push(Waiter::Trim(trim));
            return;
        }
        self.collector.jobs.start(cx.now, id, None, false);
        if self.run(cx, id) {
            self.collector.jobs.end(id);
            self.trim_done(cx, trim);
        } else if let Some(job) = self.collector.jobs.get(id) {
            job.waiters.push(Waiter::Trim(trim));
        }
    }

    /// What a trimmed page waited for is done.
    pub(super) fn trim_done(&mut self, cx: &mut Context<impl DeviceProbe>, trim: PageTrim) {
        let PageTrim {
            owner,
            mut parts,
            since,
        } = trim;
        parts.die_wait += cx.now - since;
        self.page_done(cx, owner, parts);
    }

    /// A block holds nothing any more: it is erased as soon as its plane is not being collected.
    fn erase_for_trim(&mut self, cx: &mut Context<impl DeviceProbe>, block: Block, trim: PageTrim) {
        let plane = self.base.flash.layout.plane_of(block);
        self.collector.erasing[plane.index()].push_back((block, trim));
        self.collector.waiting_erases += 1;
        if self.collector.jobs.collects(plane) {
            self.expedite(cx, JobId::of(plane));
        } else {
            self.erase_for_trims(cx, plane);
        }
    }

    /// Nothing is erased any more: TRIMs that wait for that, or for the map in flash, end with an error.
    #[cold]
    pub(super) fn refuse_trims(&mut self, cx: &mut Context<impl DeviceProbe>) {
        self.collector.waiting_erases = 0;
        let waiting = self.collector.erasing.iter_mut().flat_map(std::mem::take);
        let mut refused: Vec<PageTrim> = waiting.map(|(_, trim)| trim).collect();
        let mapped = std::mem::take(&mut self.trims.mapped);
        refused.extend(mapped.into_iter().map(|(_, trim)| trim));
        self.collector.jobs.take_trims(&mut refused);
        for trim in refused {
            self.fail_write(trim.owner);
            self.trim_done(cx, trim);
        }
    }

    /// The next block of a plane that TRIMs wait for is erased, if nothing is collected there. One that a collection has erased in the
    /// meantime is done with.
    pub(super) fn erase_for_trims(&mut self, cx: &mut Context<impl DeviceProbe>, plane: Plane) {
        while !self.collector.jobs.collects(plane)
            && let Some((block, trim)) = self.collector.erasing[plane.index()].pop_front()
        {
            self.collector.waiting_erases -= 1;
            let Some(collection) = self.base.mapping.clear(block) else {
                self.trim_done(cx, trim);
                continue;
            };
            let job = collection.job;
            self.begin_collection(cx, plane, collection, Trigger::Trim);
            if let Some(job) = self.collector.jobs.get(job) {
                job.waiters.push(Waiter::Trim(trim));
            }
        }
    }
}
