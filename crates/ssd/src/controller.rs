//! What an SSD does with a request once it is in the device: pages, places, collections.
//!
//! The controller is layers. [`Base`] holds the map, the flash and the requests; [`Collector`] is a `Base` with the jobs of the
//! mapping; [`Writes`] and [`Trims`] work on a `Collector`. What a layer finishes it returns: only the controller acts on
//! several of them.

mod audit;
mod base;
mod collect;
mod collector;
mod conditions;
mod contents;
mod die_loads;
mod errors;
mod failures;
mod finish;
mod first_read;
mod flash;
mod idle;
mod issue;
mod job;
mod on_issue;
mod pending;
mod power;
mod read;
mod regulate;
mod requests;
mod rewrite;
mod slc_cache;
mod spare;
mod stats;
mod steps;
mod trim;
mod verification;
mod write;

use std::collections::VecDeque;
use std::ops::Range;

use base::Base;
use collector::Collector;
pub use die_loads::DieLoad;
pub use errors::ErrorCounts;
pub(crate) use errors::ReadAnnotations;
pub use failures::FailureCounts;
pub use regulate::GradeCounts;
pub(crate) use requests::Done;
use serde::{Deserialize, Serialize};
pub use slc_cache::SlcCounts;
pub use stats::{Graded, SsdStats};
use trim::Trims;
use verification::Verification;
use wordline_block::{Op, Request, Ticket};
use wordline_dram_buffer::{PageOp, PageRequest, Span};
use wordline_ftl::recovery::{Spare, SpareWriter};
use wordline_ftl::{Lpn, Mapping};
use wordline_io_scheduler::schedule::IssueQueue;
use wordline_kernel::BusyTime;
use wordline_kernel::memory::{Fill, Table};
use wordline_nand::{Array, Block, Health, PageModes};
use write::Writes;

use crate::error::Result;
use crate::event::Context;
use crate::observation::DeviceProbe;
use crate::plan::Plan;
use crate::precondition::{Precondition, Preconditioned};
use crate::shadow::Shadow;

/// The controller of a disk and the flash behind it, over a mapping family.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Controller<M> {
    gc: Collector<M>,
    writes: Writes,
    trims: Trims,
}

/// The map, the array and, if the power may fail, the spare areas.
pub type Prepared<M> = (M, Array, Option<Box<SpareWriter>>);

impl<M: Mapping> Controller<M> {
    /// A pristine device.
    pub fn new(plan: &Plan, mapping: M) -> Self {
        Self {
            gc: Collector::new(plan, mapping),
            writes: Writes::new(plan),
            trims: Trims::new(plan),
        }
    }
    /// Requests that are done with since this was last cleared, in the order in which they were.
    #[inline]
    pub fn done(&mut self) -> &mut Vec<Done> {
        &mut self.gc.base.requests.done
    }
    /// What the controller and its flash take of memory, of a device so full.
    pub fn memory(plan: &Plan, fill: Fill) -> Vec<Table> {
        let layout = &plan.part.layout;
        let mut tables = Array::memory(layout, plan.part.partial_programs, fill);
        if plan.part.reader.is_some() {
            tables.extend(Health::memory(layout, fill));
        }
        if plan.part.chains.costs().is_some() {
            tables.extend(PageModes::memory(layout, fill));
            tables.extend(plan.ftl.config.regulation.memory(plan.ftl.user_pages, fill));
        }
        let spare = u64::from(layout.planes()) * u64::from(plan.ftl.config.spare_blocks);
        if spare > 0 {
            tables.push(Table::written::<Block>("spare blocks", spare));
        }
        let blocks = u64::from(layout.blocks());
        tables.push(Table::zeroed::<u16>(
            "programs under way of blocks",
            blocks,
            0.0,
        ));
        let planes = u64::from(layout.planes());
        tables.push(Table::written::<VecDeque<u32>>("stalled writes", planes));
        if plan.is_scheduled() {
            tables.extend(IssueQueue::memory(layout));
        }
        tables
    }
    /// What following every page takes of memory beside.
    pub fn memory_verified(plan: &Plan, fill: Fill) -> Vec<Table> {
        Shadow::memory(&plan.part.layout, plan.ftl.user_pages, fill).into()
    }
    /// What spare areas take of memory beside.
    pub fn memory_with_power_cuts(plan: &Plan, fill: Fill) -> Vec<Table> {
        Spare::memory(&plan.part.layout, fill).into()
    }
    /// Brings the device into the state in which it is measured.
    pub fn precondition(
        &mut self,
        plan: &Precondition,
        go_on: impl FnMut(u64) -> bool,
    ) -> Result<Preconditioned> {
        // As if idle time before the run had folded everything.
        self.gc.base.mapping.bypass_cache(true);
        let (mapping, array) = (&mut self.gc.base.mapping, &mut self.gc.base.flash.array);
        let preconditioned = match &mut self.gc.base.contents.journal {
            None => plan.run(mapping, array, self.gc.base.flash.layout, (), go_on)?,
            Some(journal) => plan.run(
                mapping,
                array,
                self.gc.base.flash.layout,
                journal.as_mut(),
                go_on,
            )?,
        };
        self.gc.base.mapping.bypass_cache(false);
        self.gc.base.free_blocks = self.gc.base.mapping.free_blocks();
        Ok(preconditioned)
    }
    /// What bringing it into its state has changed, as [`Prepared`] is read.
    pub fn prepared(&self) -> (&M, &Array, Option<&SpareWriter>) {
        let Base {
            mapping,
            flash,
            contents,
            ..
        } = &self.gc.base;
        (mapping, &flash.array, contents.journal.as_deref())
    }
    /// Brings a pristine device into the state that one of an equal plan was in.
    pub fn prepare(&mut self, (mapping, mut array, journal): Prepared<M>) {
        self.gc.base.mapping = mapping;
        array.take_books(&mut self.gc.base.flash.array);
        self.gc.base.flash.array = array;
        self.gc.base.contents.journal = journal;
        self.gc.base.free_blocks = self.gc.base.mapping.free_blocks();
    }
    /// From now on, every read is checked against a shadow store.
    pub fn verify(&mut self) {
        let mapping = &self.gc.base.mapping;
        let mut shadow = Shadow::new(self.gc.base.flash.layout, mapping.user_pages(), |page| {
            mapping.lookup(page)
        });
        if let Some(journal) = &self.gc.base.contents.journal {
            let flash = journal.flash(&self.gc.base.flash.array, self.gc.base.flash.layout);
            for (page, place) in flash.copies(|page| mapping.lookup(page)) {
                shadow.copy_of(page, place);
            }
        }
        self.gc.base.contents.verification = Some(Box::new(Verification::new(shadow)));
        self.gc.base.follows = true;
    }
    /// Bytes the host can address.
    pub fn user_bytes(&self) -> u64 {
        u64::from(self.gc.base.mapping.user_pages()) * self.gc.base.page_bytes
    }
    /// The mapping, to look at.
    pub fn mapping(&self) -> &M {
        &self.gc.base.mapping
    }
    /// The mapping, for its owner to change between two events.
    pub fn mapping_mut(&mut self) -> &mut M {
        &mut self.gc.base.mapping
    }
    /// Whether a block is being collected, be it that the collection has stopped.
    pub fn is_collecting(&self) -> bool {
        self.gc.jobs.collections().next().is_some()
    }
    /// The array, to look at.
    pub fn array(&self) -> &Array {
        &self.gc.base.flash.array
    }
    /// How long each bus has been held since the power came.
    pub fn buses_busy(&self) -> impl Iterator<Item = BusyTime> + '_ {
        self.gc.base.flash.backend.buses_busy()
    }
    /// How long each die has been occupied since the power came.
    pub fn dies_busy(&self) -> impl Iterator<Item = BusyTime> + '_ {
        self.gc.base.flash.backend.dies_busy()
    }
    /// Counts and times that no observation carries, without those of the buffer.
    pub fn stats(&self) -> SsdStats {
        let (flash, conditions) = (&self.gc.base.flash, &self.gc.base.conditions);
        let before = flash.usage.iter().zip(flash.backend.usage());
        SsdStats {
            usage: before.map(|(before, usage)| before.plus(&usage)).collect(),
            map_cache: self.gc.base.mapping.map_cache(),
            read_errors: self.reads_can_fail().then_some(conditions.errors),
            failures: self.writes_can_fail().then_some(*conditions.failures),
            graded: flash.array.modes().map(|modes| Graded {
                counts: conditions.graded,
                wear: modes.wear().to_vec(),
                programs: modes.programs(),
            }),
            slc_cache: conditions.slc.as_deref().copied(),
            lost_reads: 0,
        }
    }
    /// Whether reads err, or what they ask for may not have been written.
    pub fn reads_can_fail(&self) -> bool {
        let conditions = &self.gc.base.conditions;
        conditions.reader.is_some() || conditions.failure_model.is_some()
    }
    /// Whether blocks can go bad.
    pub fn writes_can_fail(&self) -> bool {
        self.gc.base.flash.array.bad_blocks().is_some()
    }
    /// Whether there may be something to say of requests beside: pages are not all alike.
    #[inline]
    pub fn tells_beside(&self) -> bool {
        self.gc.base.conditions.annotations.is_some()
    }
    /// What there is to say of a request beside that is done. Once for each.
    pub fn take_beside(&mut self, ticket: Ticket) -> ReadAnnotations {
        let beside = self.gc.base.conditions.annotations.as_mut();
        beside
            .and_then(|beside| beside.remove(&ticket))
            .unwrap_or_default()
    }
    /// The shadow store, if the run is verified.
    pub fn shadow(&self) -> Option<&Shadow> {
        self.gc
            .base
            .contents
            .verification
            .as_ref()
            .map(|verification| &verification.shadow)
    }

    /// Whether the device takes no writes any more.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        self.gc.base.conditions.is_read_only()
    }
    /// A write or a trim of the host is not taken by the buffer, as nothing is written any more.
    pub fn count_refused(&mut self, request: &Request) {
        self.gc
            .base
            .conditions
            .count_refused(request, self.gc.base.page_bytes);
    }
    /// Blocks that have gone bad since this was asked last: of each, whether a spare one has taken its place.
    pub fn newly_retired(&mut self) -> impl Iterator<Item = bool> {
        let Base {
            conditions, flash, ..
        } = &mut self.gc.base;
        conditions.newly_retired(&flash.array)
    }
    /// Further reads since this was asked last.
    pub fn newly_retried(&mut self) -> Option<u32> {
        self.gc.base.conditions.newly_retried()
    }
    /// How many requests ahead the host is to tell of with [`Controller::look_ahead`].
    pub fn tags(&self) -> u32 {
        self.gc.tags()
    }
    /// What the host will ask for next, in order of arrival.
    pub fn look_ahead(&mut self, cx: &mut Context<impl DeviceProbe>, upcoming: &[Request]) {
        self.gc.look_ahead(cx, upcoming);
    }
    /// What a TRIM frees now, of its own range or of what it completes.
    pub fn trim_frees(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        request: &Request,
    ) -> Range<u64> {
        self.trims.trim_frees(cx, self.gc.base.page_bytes, request)
    }
    /// A write begins while a run of TRIMs may be open.
    pub fn trim_run_written(&mut self, request: &Request) {
        self.trims.trim_run_written(request);
    }
    /// No more pages of a TRIM are to come now.
    pub fn end_trims(&mut self, cx: &mut Context<impl DeviceProbe>) {
        self.trims.end_trims(&mut self.gc, cx);
    }
    /// Idle dies begin with what has been enqueued at this instant.
    pub fn begin_dies(&mut self, cx: &mut Context<impl DeviceProbe>) {
        self.gc.base.flash.begin_dies(cx);
    }
    /// Blocks that were full without their summaries get them.
    pub fn summarize(&mut self, cx: &mut Context<impl DeviceProbe>) {
        self.gc.base.summarize(cx);
    }

    /// A request from this byte on will come soon.
    #[inline]
    pub fn prefetch(&mut self, offset: u64) {
        self.gc
            .base
            .mapping
            .prefetch(Lpn((offset / self.gc.base.page_bytes) as u32));
    }
    /// Begins with a request, which lies within the device.
    pub fn begin(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        ticket: Ticket,
        request: &Request,
    ) -> Result<()> {
        if matches!(request.op, Op::Flush | Op::Trim) {
            self.begin_dataless(cx, ticket, request);
            return Ok(());
        }
        let page_bytes = self.gc.base.page_bytes;
        let end = request.offset + request.bytes;
        let first = request.offset / page_bytes;
        let last = (end - 1) / page_bytes;
        self.expect(ticket, (last - first) as u32 + 1, request.op);
        let mut page = first;
        if request.op == Op::Write {
            if self.trims.run.is_some() {
                self.trims.trim_run_written(request);
            }
            page = self.writes.write_rows(&mut self.gc, cx, ticket, request);
        }
        while page <= last {
            let from = request.offset.max(page * page_bytes) - page * page_bytes;
            let bytes = end.min((page + 1) * page_bytes) - page * page_bytes - from;
            let span = Span {
                from: from as u32,
                bytes: bytes as u32,
                written: bytes as u32,
                whole: bytes == page_bytes,
            };
            let number = Lpn(page as u32);
            match request.op {
                Op::Read => self.read(cx, ticket, number)?,
                _ => self.write(cx, ticket, number, span, false),
            }
            page += 1;
        }
        Ok(())
    }

    /// Begins with what the buffer asks for a page.
    #[cold]
    pub fn begin_page(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        ticket: Ticket,
        request: &PageRequest,
    ) -> Result<()> {
        let op = match request.op {
            PageOp::Trim => Op::Trim,
            PageOp::Fetch | PageOp::Destage(_) => Op::Read,
        };
        self.expect(ticket, 1, op);
        let all = Span {
            from: 0,
            bytes: self.gc.base.page_bytes as u32,
            written: 0,
            whole: true,
        };
        let page = Lpn(request.page.0);
        match request.op {
            PageOp::Fetch => self.read(cx, ticket, page)?,
            PageOp::Destage(span) => self.write(cx, ticket, page, span, false),
            PageOp::Trim => {
                self.trims.gathering = true;
                self.write(cx, ticket, page, all, true);
            }
        }
        Ok(())
    }

    /// A request of so many pages begins.
    #[inline]
    fn expect(&mut self, ticket: Ticket, pages: u32, op: Op) {
        self.gc.base.requests.begin(ticket, pages);
        if !self.gc.base.dispatches_directly {
            self.gc.base.request_begins(ticket, op);
        }
    }
}
