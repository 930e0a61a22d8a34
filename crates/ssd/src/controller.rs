//! What a disk does with a request once it is in the device: pages, places, collections.

mod audit;
mod collect;
mod die_loads;
mod errors;
mod failures;
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
mod slc_cache;
mod spare;
mod state;
mod steps;
mod trim;
mod verification;
mod write;

use std::collections::VecDeque;

pub use die_loads::DieLoad;
pub use errors::ErrorCounts;
pub(crate) use errors::ReadAnnotations;
pub use failures::FailureCounts;
use first_read::FirstReads;
pub use regulate::GradeCounts;
pub(crate) use requests::Done;
use serde::{Deserialize, Serialize};
pub use slc_cache::SlcCounts;
use state::{NonVolatile, Volatile};
use verification::Verification;
use wordline_ftl::gc::schedule::Scheduling;
use wordline_ftl::recovery::{Spare, SpareWriter};
use wordline_ftl::refresh::Steps;
use wordline_ftl::{Lpn, Mapping};
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::{BusyTime, Rng};
use wordline_nand::{Array, Block, Health, Layout, PageModes};

use crate::backend::{BackEnd, Usage};
use crate::error::Result;
use crate::event::Context;
use crate::observation::{DeviceProbe, PageParts};
use crate::plan::Plan;
use crate::precondition::{Precondition, Preconditioned};
use crate::shadow::Shadow;
use wordline_block::Ticket;
use wordline_block::{Op, Request};
use wordline_dram_buffer::{PageOp, PageRequest, Span};
use wordline_io_scheduler::Slot;
use wordline_io_scheduler::schedule::IssueQueue;
use wordline_reliability::{Failing, Reader};

/// The controller of a disk and the flash behind it, over a mapping family.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools)] // what a plan says, each looked at by itself
pub(crate) struct Controller<M> {
    layout: Layout,
    page_bytes: u64,
    /// Whether collections move pages inside their planes.
    internal_data_move: bool,
    scheduling: Scheduling,
    /// Whether what free blocks call for is put off while the host is being served, and noted.
    puts_off: bool,
    /// What the host comes between where data moves for its own sake.
    refresh_steps: Steps,
    reserve_blocks: u32,
    /// Lost with the power, and built anew from the flash.
    mapping: M,
    persistent: NonVolatile,
    volatile: Volatile,
    verification: Option<Box<Verification>>,
    /// Whether pages are followed: for verification, in spare areas, or by how they are programmed.
    follows: bool,
    /// Whether operations take what modes and errors of their pages say.
    has_page_conditions: bool,
    /// Whether operations go to the queues of their dies at once, and there is nothing else to know of them.
    dispatches_directly: bool,
    /// Whether writes get their places when they are issued.
    places_on_issue: bool,
    /// Whether places depend on what the dies have to do.
    allocates_by_load: bool,
    /// Whether pages of a row are placed one by one.
    places_singly: bool,
    /// How reads err, if they do.
    reader: Option<Box<Reader>>,
    /// How programs and erases fail, if they do.
    failing: Option<Box<Failing>>,
    /// What has been read of what was there before, where it lies as it is first read.
    first_reads: Option<Box<FirstReads>>,
}

/// The map, the array and, if the power may fail, the spare areas.
pub type Prepared<M> = (M, Array, Option<Box<SpareWriter>>);

impl<M: Mapping> Controller<M> {
    /// A pristine device.
    pub fn new(plan: &Plan, mapping: M) -> Self {
        let draws = Rng::new(plan.part.seed, "nand.array");
        Self {
            layout: plan.part.layout,
            page_bytes: u64::from(plan.page_bytes),
            internal_data_move: plan.internal_data_move,
            scheduling: plan.ftl.config.gc.schedule.clone(),
            puts_off: plan.ftl.config.gc.schedule.policy().puts_off(),
            refresh_steps: plan.ftl.config.refresh.steps,
            reserve_blocks: plan.ftl.reserve_blocks,
            persistent: NonVolatile::new(plan),
            volatile: Volatile::new(plan, BackEnd::new(plan, draws), mapping.free_blocks()),
            mapping,
            verification: None,
            follows: plan.has_page_conditions() || plan.first_read_pages > 0,
            has_page_conditions: plan.has_page_conditions(),
            dispatches_directly: !plan.has_page_conditions() && !plan.is_scheduled(),
            places_on_issue: plan.ftl.config.allocate.is_on_issue() && plan.is_scheduled(),
            allocates_by_load: plan.ftl.config.allocate.is_by_work(),
            places_singly: plan.is_scheduled() || plan.ftl.config.allocate.is_by_work(),
            reader: plan.part.reader.clone(),
            failing: plan.part.failing.clone(),
            first_reads: FirstReads::new(plan.first_read_pages),
        }
    }
    /// Requests that are done with since this was last cleared, in the order in which they were.
    #[inline]
    pub fn done(&mut self) -> &mut Vec<Done> {
        &mut self.volatile.done
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
        self.mapping.bypass_cache(true);
        let (mapping, array) = (&mut self.mapping, &mut self.persistent.array);
        let preconditioned = match &mut self.persistent.journal {
            None => plan.run(mapping, array, self.layout, (), go_on)?,
            Some(journal) => plan.run(mapping, array, self.layout, journal.as_mut(), go_on)?,
        };
        self.mapping.bypass_cache(false);
        self.volatile.free_blocks = self.mapping.free_blocks();
        Ok(preconditioned)
    }
    /// What bringing it into its state has changed, as [`Prepared`] is read.
    pub fn prepared(&self) -> (&M, &Array, Option<&SpareWriter>) {
        let NonVolatile { array, journal, .. } = &self.persistent;
        (&self.mapping, array, journal.as_deref())
    }
    /// Brings a pristine device into the state that one of an equal plan was in.
    pub fn prepare(&mut self, (mapping, mut array, journal): Prepared<M>) {
        self.mapping = mapping;
        array.take_books(&mut self.persistent.array);
        self.persistent.array = array;
        self.persistent.journal = journal;
        self.volatile.free_blocks = self.mapping.free_blocks();
    }
    /// From now on, every read is checked against a shadow store.
    pub fn verify(&mut self) {
        let mapping = &self.mapping;
        let mut shadow = Shadow::new(self.layout, mapping.user_pages(), |page| {
            mapping.lookup(page)
        });
        if let Some(journal) = &self.persistent.journal {
            let flash = journal.flash(&self.persistent.array, self.layout);
            for (page, place) in flash.copies(|page| mapping.lookup(page)) {
                shadow.copy_of(page, place);
            }
        }
        self.verification = Some(Box::new(Verification::new(shadow)));
        self.follows = true;
    }
    /// Bytes the host can address.
    pub fn user_bytes(&self) -> u64 {
        u64::from(self.mapping.user_pages()) * self.page_bytes
    }
    /// The mapping, to look at.
    pub fn mapping(&self) -> &M {
        &self.mapping
    }
    /// The mapping, for its owner to change between two events.
    pub fn mapping_mut(&mut self) -> &mut M {
        &mut self.mapping
    }
    /// Whether a block is being collected, be it that the collection has stopped.
    pub fn is_collecting(&self) -> bool {
        self.volatile.jobs.collections().next().is_some()
    }
    /// The array, to look at.
    pub fn array(&self) -> &Array {
        &self.persistent.array
    }
    /// What each die has been used for.
    pub fn usage(&self) -> impl Iterator<Item = Usage> + '_ {
        let before = self.persistent.usage.iter();
        let usage = before.zip(self.volatile.backend.usage());
        usage.map(|(before, usage)| before.plus(&usage))
    }
    /// How long each bus has been held since the power came.
    pub fn buses_busy(&self) -> impl Iterator<Item = BusyTime> + '_ {
        self.volatile.backend.buses_busy()
    }
    /// How long each die has been occupied since the power came.
    pub fn dies_busy(&self) -> impl Iterator<Item = BusyTime> + '_ {
        self.volatile.backend.dies_busy()
    }
    /// What was done of each mode, where pages are not all programmed alike.
    pub fn graded(&self) -> Option<&GradeCounts> {
        let modes = self.persistent.array.modes();
        modes.map(|_| &self.persistent.graded)
    }
    /// What reads have found, where they err, or where what they ask for may not have been written.
    pub fn read_errors(&self) -> Option<&ErrorCounts> {
        let may_err = self.reader.is_some() || self.failing.is_some();
        may_err.then_some(&self.persistent.errors)
    }
    /// What has come of programs and erases that failed, where blocks can go bad.
    pub fn failures(&self) -> Option<&FailureCounts> {
        let bad_blocks = self.persistent.array.bad_blocks();
        bad_blocks.map(|_| self.persistent.failures.as_ref())
    }
    /// Whether there may be something to say of requests beside: pages are not all alike.
    #[inline]
    pub fn tells_beside(&self) -> bool {
        self.volatile.beside.is_some()
    }
    /// What there is to say of a request beside that is done. Once for each.
    pub fn take_beside(&mut self, ticket: Ticket) -> ReadAnnotations {
        let beside = self.volatile.beside.as_mut();
        beside
            .and_then(|beside| beside.remove(&ticket))
            .unwrap_or_default()
    }
    /// The shadow store, if the run is verified.
    pub fn shadow(&self) -> Option<&Shadow> {
        self.verification
            .as_ref()
            .map(|verification| &verification.shadow)
    }

    /// A request from this byte on will come soon.
    #[inline]
    pub fn prefetch(&mut self, offset: u64) {
        self.mapping
            .prefetch(Lpn((offset / self.page_bytes) as u32));
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
        let end = request.offset + request.bytes;
        let first = request.offset / self.page_bytes;
        let last = (end - 1) / self.page_bytes;
        self.expect(ticket, (last - first) as u32 + 1, request.op);
        let mut page = first;
        if request.op == Op::Write {
            if self.volatile.trims.run.is_some() {
                self.trim_run_written(request);
            }
            page = self.write_rows(cx, ticket, request);
        }
        while page <= last {
            let from = request.offset.max(page * self.page_bytes) - page * self.page_bytes;
            let bytes = end.min((page + 1) * self.page_bytes) - page * self.page_bytes - from;
            let span = Span {
                from: from as u32,
                bytes: bytes as u32,
                written: bytes as u32,
                whole: bytes == self.page_bytes,
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
            bytes: self.page_bytes as u32,
            written: 0,
            whole: true,
        };
        let page = Lpn(request.page.0);
        match request.op {
            PageOp::Fetch => self.read(cx, ticket, page)?,
            PageOp::Destage(span) => self.write(cx, ticket, page, span, false),
            PageOp::Trim => {
                self.volatile.trims.gathering = true;
                self.write(cx, ticket, page, all, true);
            }
        }
        Ok(())
    }

    /// A request of so many pages begins.
    #[inline]
    fn expect(&mut self, ticket: Ticket, pages: u32, op: Op) {
        self.volatile.requests.begin(ticket, pages);
        if !self.dispatches_directly {
            self.request_begins(ticket, op);
        }
    }

    /// A page of a request is done that has been through these parts; with the last one, so is the
    /// request.
    #[inline]
    fn page_done(&mut self, cx: &mut Context<impl DeviceProbe>, ticket: Ticket, parts: PageParts) {
        if self.volatile.requests.page_done(ticket) {
            self.volatile.done.push(Done { ticket, parts });
            self.ends(cx, ticket);
        }
    }
    /// The same of a page whose transaction is over.
    #[inline(always)]
    fn transaction_done(&mut self, cx: &mut Context<impl DeviceProbe>, ticket: Ticket, slot: Slot) {
        if self.volatile.requests.page_done(ticket) {
            self.last_transaction_done(cx, ticket, slot);
        }
    }
    #[inline(always)]
    fn last_transaction_done(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        ticket: Ticket,
        slot: Slot,
    ) {
        let parts = self.volatile.backend.parts(slot);
        self.volatile.done.push(Done { ticket, parts });
        self.ends(cx, ticket);
    }
    /// All pages of a request are done.
    #[inline]
    fn ends(&mut self, cx: &mut Context<impl DeviceProbe>, ticket: Ticket) {
        if self.volatile.requests.end() {
            self.becomes_idle(cx);
        }
        self.request_done(ticket);
    }
}
