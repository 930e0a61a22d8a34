//! Controller of an SSD: maps, reads and writes pages, and runs GC.
//!
//! The controller is layered. [`Base`] holds the map, the flash and the requests. [`Collector`]
//! adds the jobs of the mapping to a `Base`. [`Writes`] and [`Trims`] work on a `Collector`. A
//! layer returns what it has finished; only the controller acts on several layers.

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
mod flash;
mod idle;
mod idle_periods;
mod issue;
mod job;
mod loses_power;
mod on_issue;
mod pending;
mod power;
mod read;
mod regulate;
mod requests;
mod rewrite;
mod slc_cache;
mod stats;
mod steps;
mod trim;
mod write;

use std::collections::VecDeque;
use std::ops::Range;

use base::Base;
use collector::Collector;
pub use die_loads::DieLoad;
pub use errors::ErrorCounts;
pub(crate) use errors::ReadAnnotations;
pub use failures::FailureCounts;
pub use idle_periods::IdleCounts;
pub use regulate::GradeCounts;
pub(crate) use requests::Done;
use serde::{Deserialize, Serialize};
pub use slc_cache::SlcCounts;
pub use stats::{Graded, SsdStats};
use trim::Trims;
use wordline_block::{Op, Request, Ticket};
use wordline_content_oracle::{ContentOracle, Verification};
use wordline_dram_buffer::{PageOp, PageRequest, Span};
use wordline_ftl::precondition::{Precondition, Preconditioned};
use wordline_ftl::recovery::{Spare, SpareWriter};
use wordline_ftl::{Lpn, Mapping};
use wordline_io_scheduler::schedule::IssueQueue;
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::{BusyTime, Plus, Time};
use wordline_nand::{Array, Block, Die, Health, PageModes};
use write::Writes;

use crate::error::Result;
use crate::event::Context;
use crate::observation::DeviceProbe;
use crate::plan::Plan;

/// Controller of an SSD and its flash, over a mapping family.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Controller<M> {
    gc: Collector<M>,
    writes: Writes,
    trims: Trims,
}

/// State of a prepared device: the map, the array and, if power cuts are enabled, the spare areas.
pub type Prepared<M> = (M, Array, Option<Box<SpareWriter>>);

impl<M: Mapping> Controller<M> {
    /// Creates the controller of an erased device.
    pub fn new(plan: &Plan, mapping: M) -> Self {
        Self {
            gc: Collector::new(plan, mapping),
            writes: Writes::new(plan),
            trims: Trims::new(plan),
        }
    }
    /// Returns the requests that finished since the list was last cleared, in order.
    #[inline]
    pub fn done(&mut self) -> &mut Vec<Done> {
        &mut self.gc.base.requests.done
    }
    /// Returns the tables of the controller and its flash except the map, with the memory of each
    /// at the given fill.
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
            "programs in progress by block",
            blocks,
            0.0,
        ));
        let planes = u64::from(layout.planes());
        tables.push(Table::written::<VecDeque<u32>>("stalled writes", planes));
        if plan.is_scheduled() {
            tables.push(IssueQueue::memory(layout));
        }
        tables
    }
    /// Returns the tables that verification adds, with the memory of each at the given fill.
    pub fn memory_verified(plan: &Plan, fill: Fill) -> Vec<Table> {
        ContentOracle::memory(&plan.part.layout, plan.ftl.user_pages, fill).into()
    }
    /// Returns the tables of the spare areas, with the memory of each at the given fill.
    pub fn memory_with_power_cuts(plan: &Plan, fill: Fill) -> Vec<Table> {
        Spare::memory(&plan.part.layout, fill).into()
    }
    /// Preconditions the device. `go_on` receives the number of pages written so far, and returns
    /// `false` to end preconditioning early.
    pub fn precondition(
        &mut self,
        plan: &Precondition,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Preconditioned> {
        // Preconditioning leaves the SLC cache empty, as if idle time before the run had folded it.
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
    /// Returns the state that preconditioning has changed, for [`Prepared`].
    pub fn prepared(&self) -> (&M, &Array, Option<&SpareWriter>) {
        let Base {
            mapping,
            flash,
            contents,
            ..
        } = &self.gc.base;
        (mapping, &flash.array, contents.journal.as_deref())
    }
    /// Restores a prepared state to a new device, under the conditions of [`crate::Ssd::prepare`].
    pub fn prepare(&mut self, (mapping, mut array, journal): Prepared<M>) {
        self.gc.base.mapping = mapping;
        array.take_books(&mut self.gc.base.flash.array);
        self.gc.base.flash.array = array;
        self.gc.base.contents.journal = journal;
        self.gc.base.free_blocks = self.gc.base.mapping.free_blocks();
    }
    /// Enables verification of every read against a content oracle.
    pub fn verify(&mut self) {
        let mapping = &self.gc.base.mapping;
        let mut oracle =
            ContentOracle::new(self.gc.base.flash.layout, mapping.user_pages(), |page| {
                mapping.lookup(page)
            });
        if let Some(journal) = &self.gc.base.contents.journal {
            let flash = journal.flash(&self.gc.base.flash.array, self.gc.base.flash.layout);
            for (page, place) in flash.copies(|page| mapping.lookup(page)) {
                oracle.copy_of(page, place);
            }
        }
        self.gc.base.contents.verification = Some(Box::new(Verification::new(oracle)));
        self.gc.base.follows = true;
    }
    /// Returns the capacity that the host can address. Bytes.
    pub fn user_bytes(&self) -> u64 {
        u64::from(self.gc.base.mapping.user_pages()) * self.gc.base.page_bytes
    }
    /// Returns the mapping.
    pub fn mapping(&self) -> &M {
        &self.gc.base.mapping
    }
    /// Returns the mapping, which the owner of the device may change between two events.
    pub fn mapping_mut(&mut self) -> &mut M {
        &mut self.gc.base.mapping
    }
    /// Returns `true` if GC of a block is in progress or paused.
    pub fn is_collecting(&self) -> bool {
        self.gc.jobs.collections().next().is_some()
    }
    /// Returns the array.
    pub fn array(&self) -> &Array {
        &self.gc.base.flash.array
    }
    /// Returns the busy time of each bus since power-on.
    pub fn buses_busy(&self) -> impl Iterator<Item = BusyTime> + '_ {
        self.gc.base.flash.backend.buses_busy()
    }
    /// Sets the slowness of a die, as [`wordline_nand::Channels::slow_down`] does.
    pub fn slow_die(&mut self, die: Die, slowness: u32) {
        self.gc.base.flash.backend.slow_die(die, slowness);
    }
    /// Returns the occupied time of each die since power-on.
    pub fn dies_busy(&self) -> impl Iterator<Item = BusyTime> + '_ {
        self.gc.base.flash.backend.dies_busy()
    }
    /// Returns the statistics that no observation carries, without those of the buffer.
    pub fn stats(&self) -> SsdStats {
        let (flash, conditions) = (&self.gc.base.flash, &self.gc.base.conditions);
        let before = flash.usage.iter().zip(flash.backend.usage());
        SsdStats {
            usage: before.map(|(before, usage)| before.plus(usage)).collect(),
            map_cache: self.gc.base.mapping.map_cache(),
            read_errors: self.reads_can_fail().then_some(conditions.errors),
            failures: self.writes_can_fail().then_some(*conditions.failures),
            graded: flash.array.modes().map(|modes| Graded {
                counts: conditions.graded,
                wear: modes.wear().to_vec(),
                programs: modes.programs(),
            }),
            slc_cache: conditions.slc.as_deref().copied(),
            idle_periods: self.gc.idling.as_ref().map(|idling| idling.counts),
            lost_reads: 0,
        }
    }
    /// Returns `true` if reads can fail, because pages have errors or their program can have
    /// failed.
    pub fn reads_can_fail(&self) -> bool {
        let conditions = &self.gc.base.conditions;
        conditions.reader.is_some() || conditions.failure_model.is_some()
    }
    /// Returns `true` if bad blocks are tracked, because there are spare blocks or because programs
    /// and erases can fail.
    pub fn writes_can_fail(&self) -> bool {
        self.gc.base.flash.array.bad_blocks().is_some()
    }
    /// Returns `true` if requests can carry annotations, because the device has page conditions.
    #[inline]
    pub fn tells_beside(&self) -> bool {
        self.gc.base.conditions.annotations.is_some()
    }
    /// Takes the annotations of a completed request. Must be called once per request.
    pub fn take_beside(&mut self, ticket: Ticket) -> ReadAnnotations {
        let annotations = self.gc.base.conditions.annotations.as_mut();
        let beside = annotations.and_then(|all| all.get_mut(ticket as usize));
        beside.map(std::mem::take).unwrap_or_default()
    }
    /// Returns the content oracle, if the run is verified.
    pub fn content_oracle(&self) -> Option<&ContentOracle> {
        self.gc
            .base
            .contents
            .verification
            .as_ref()
            .map(|verification| &verification.oracle)
    }

    /// Returns `true` if the device is read-only.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        self.gc.base.conditions.is_read_only()
    }
    /// Counts the pages of a host write or TRIM that the buffer rejects because the device is
    /// read-only.
    pub fn count_refused(&mut self, request: &Request) {
        self.gc
            .base
            .conditions
            .count_refused(request, self.gc.base.page_bytes);
    }
    /// Returns one value for each block that has gone bad since the last call: `true` if a spare
    /// block has replaced it.
    pub fn newly_retired(&mut self) -> impl Iterator<Item = bool> {
        let Base {
            conditions, flash, ..
        } = &mut self.gc.base;
        conditions.newly_retired(&flash.array)
    }
    /// Returns the number of retries since the last call, or `None` if there were none.
    pub fn newly_retried(&mut self) -> Option<u32> {
        self.gc.base.conditions.newly_retried()
    }
    /// Returns how many requests in advance the host should announce through
    /// [`Controller::look_ahead`].
    pub fn lookahead_depth(&self) -> u32 {
        self.gc.lookahead_depth()
    }
    /// Announces the next requests of the host, in order of arrival.
    pub fn look_ahead(&mut self, cx: &mut Context<impl DeviceProbe>, upcoming: &[Request]) {
        self.gc.look_ahead(cx, upcoming);
    }
    /// Reports a TRIM that starts, and returns the range whose whole pages it frees: its own bytes,
    /// or the mapping units that the run of TRIMs has completed with it. May be empty.
    pub fn trim_frees(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        request: &Request,
    ) -> Range<u64> {
        self.trims.trim_frees(cx, self.gc.base.page_bytes, request)
    }
    /// Records a write that starts while a run of TRIMs may be open.
    pub fn trim_run_written(&mut self, request: &Request) {
        self.trims.trim_run_written(request);
    }
    /// Lets the pages of a TRIM wait for the update of the map in flash.
    pub fn end_trims(&mut self, cx: &mut Context<impl DeviceProbe>) {
        self.trims.end_trims(&mut self.gc, cx);
    }
    /// Starts idle dies with the operations queued at this instant.
    pub fn begin_dies(&mut self, cx: &mut Context<impl DeviceProbe>) {
        self.gc.base.flash.begin_dies(cx);
    }
    /// Programs the missing summaries of full blocks.
    pub fn summarize(&mut self, cx: &mut Context<impl DeviceProbe>) {
        self.gc.base.summarize(cx);
    }

    /// Prefetches map entries for a request that starts at this byte.
    #[inline]
    pub fn prefetch(&mut self, offset: u64) {
        self.gc
            .base
            .mapping
            .prefetch(Lpn((offset / self.gc.base.page_bytes) as u32));
    }
    /// Starts a request, which must be within the device.
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
        self.expect(cx.now, ticket, (last - first) as u32 + 1, request.op);
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

    /// Starts a page request of the buffer.
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
        self.expect(cx.now, ticket, 1, op);
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

    /// Registers a request of `pages` pages.
    #[inline]
    fn expect(&mut self, now: Time, ticket: Ticket, pages: u32, op: Op) {
        if self.gc.idling.is_some() {
            self.gc.end_idle_period(now);
        }
        self.gc.base.requests.begin(ticket, pages);
        if self.gc.base.announces_requests {
            self.gc.base.request_begins(ticket, op);
        }
    }
}
