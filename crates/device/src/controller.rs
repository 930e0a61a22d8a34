//! What a disk does with a request once it is in the device: pages, places, collections.

mod audit;
mod chips;
mod collect;
mod idle;
mod issue;
mod job;
mod power;

use std::collections::VecDeque;
use std::convert::Infallible;
use std::ops::Range;

pub use chips::ChipLoad;
use chips::Chips;
use idle::Idling;
use issue::IssueStage;
use job::{Jobs, Waiter};
use power::Spares;
use rustc_hash::FxHashMap;
use wordline_ftl::gc::schedule::Scheduling;
use wordline_ftl::recovery::Spare;
use wordline_ftl::{Bulk, JobId, Lpn, Mapping, Placed, Want, Written};
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::{BusyTime, Probe, Time};
use wordline_nand::{
    Array, Basic, Block, Die, Event as Flash, Features, Full, Layout, Operation, Plane, Ppn,
};

use crate::backend::{ArrayDone, BackEnd, Order, Purpose, Slot, Usage};
use crate::error::DeviceError;
use crate::event::Context;
use crate::observation::{Observation, PageParts};
use crate::plan::Plan;
use crate::precondition::{Precondition, Preconditioned};
use crate::schedule::IssueQueue;
use crate::shadow::{Shadow, Version};
use wordline_block::Ticket;
use wordline_block::{Op, Request};
use wordline_buffer::{PageOp, PageRequest, Span};

/// A request of which all pages are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Done {
    /// The request.
    pub ticket: Ticket,
    /// Where its time in the device went: the parts of the page that was done last.
    pub parts: PageParts,
}

/// A write of a page or a part of it that has no place yet, or a trim behind one.
#[derive(Clone, Copy, Debug)]
struct PageWrite {
    owner: u32,
    page: Lpn,
    whole: bool,
    trim: bool,
    parts: PageParts,
    /// Since when it waits.
    since: Time,
    /// For verification.
    version: Version,
    base: u64,
}

/// A read that waits for its map entry.
#[derive(Clone, Copy, Debug)]
struct PageRead {
    owner: u32,
    page: Lpn,
    parts: PageParts,
    since: Time,
    /// For verification: the oldest version that it may return.
    oldest: Version,
}

/// Where a write goes, and 1 + the block of the copy that it supersedes, or 0.
#[derive(Clone, Copy, Debug)]
struct Place {
    place: Ppn,
    superseded: u32,
}

/// A write that has no place yet, and the writes of its page that came later.
#[derive(Clone, Debug)]
struct Held {
    write: PageWrite,
    later: VecDeque<PageWrite>,
}

/// Verification beside the transactions.
#[derive(Clone, Debug)]
struct Verification {
    shadow: Shadow,
    /// By transaction: the content it carries.
    contents: Vec<u64>,
    /// By transaction: the oldest version a read may return, or the version a write carries.
    versions: Vec<Version>,
}

impl Verification {
    fn note(&mut self, slot: Slot, content: u64, version: Version) {
        let slot = slot as usize;
        if self.contents.len() <= slot {
            self.contents.resize(slot + 1, 0);
            self.versions.resize(slot + 1, NO_VERSION);
        }
        self.contents[slot] = content;
        self.versions[slot] = version;
    }
}

const NO_VERSION: Version = Version {
    number: 0,
    from: 0,
    bytes: 0,
    partial: false,
};

/// The controller of a disk and the flash behind it, over a mapping family.
#[derive(Clone, Debug)]
pub(crate) struct Controller<M> {
    layout: Layout,
    page_bytes: u64,
    mapping: M,
    array: Array,
    backend: BackEnd,
    /// The scheduler, if operations wait for one.
    issue: Option<Box<IssueStage>>,
    /// Whether collections move pages inside their planes.
    internal_data_move: bool,
    /// By ticket: pages of the request that are not done yet.
    remaining: Vec<u32>,
    /// Requests that are done with, in the order in which they were; the owner clears it.
    pub done: Vec<Done>,
    jobs: Jobs,
    chips: Chips,
    scheduling: Scheduling,
    /// Whether what free blocks call for is put off while the host is being served, and noted.
    puts_off: bool,
    /// What the device does when it is idle; `None` if its schedule never asks.
    idling: Option<Box<Idling>>,
    /// Requests that have begun and are not done.
    serving: u32,
    reserve_blocks: u32,
    /// By block: programs on their way that supersede a page of it. Until they are done, the block
    /// is not erased: if the power failed, the data before them would be lost.
    superseding: Vec<u16>,
    /// Writes without a place, and where to find that of a page.
    held: Vec<Held>,
    vacant_held: Vec<u32>,
    pending: FxHashMap<Lpn, u32>,
    /// By plane: held writes that wait for room in it.
    stalled: Vec<VecDeque<u32>>,
    /// Held writes that wait for a block anywhere.
    stalled_anywhere: VecDeque<u32>,
    verification: Option<Box<Verification>>,
    /// Spare areas, if the power may fail.
    spares: Option<Box<Spares>>,
    /// Whether pages are followed: for verification, or in spare areas.
    follows: bool,
    /// Free blocks, as last observed.
    free_blocks: u32,
}

impl<M: Mapping> Controller<M> {
    /// A pristine device.
    pub fn new(plan: &Plan, mapping: M) -> Self {
        let part = &plan.part;
        let layout = part.layout;
        let planes = layout.planes() as usize;
        let free_blocks = mapping.free_blocks();
        Self {
            layout,
            page_bytes: u64::from(plan.page_bytes),
            mapping,
            array: Array::new(layout, part.endurance_cycles)
                .with_partial_programs(part.partial_programs),
            backend: BackEnd::new(plan),
            issue: IssueStage::new(plan),
            internal_data_move: plan.internal_data_move,
            remaining: Vec::new(),
            done: Vec::new(),
            jobs: Jobs::new(planes),
            chips: Chips::new(plan),
            scheduling: plan.ftl.config.gc.schedule.clone(),
            puts_off: plan.ftl.config.gc.schedule.policy().puts_off(),
            idling: Idling::new(plan),
            serving: 0,
            reserve_blocks: plan.ftl.reserve_blocks,
            superseding: vec![0; layout.blocks() as usize],
            held: Vec::new(),
            vacant_held: Vec::new(),
            pending: FxHashMap::default(),
            stalled: vec![VecDeque::new(); planes],
            stalled_anywhere: VecDeque::new(),
            verification: None,
            spares: None,
            follows: false,
            free_blocks,
        }
    }
    /// What the controller and its flash take of memory, of a device so full.
    pub fn memory(plan: &Plan, fill: Fill) -> Vec<Table> {
        let layout = &plan.part.layout;
        let mut tables = Array::memory(layout, plan.part.partial_programs, fill);
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
    ) -> Result<Preconditioned, DeviceError> {
        let (mapping, array) = (&mut self.mapping, &mut self.array);
        let preconditioned = match &mut self.spares {
            None => plan.run(mapping, array, self.layout, (), go_on)?,
            Some(spares) => plan.run(mapping, array, self.layout, &mut spares.journal, go_on)?,
        };
        self.free_blocks = self.mapping.free_blocks();
        Ok(preconditioned)
    }
    /// From now on, every read is checked against a shadow store.
    pub fn verify(&mut self) {
        let mapping = &self.mapping;
        let mut shadow = Shadow::new(self.layout, mapping.user_pages(), |page| {
            mapping.lookup(page)
        });
        if let Some(spares) = &self.spares {
            let flash = spares.journal.flash(&self.array, self.layout);
            for (page, place) in flash.copies(|page| mapping.lookup(page)) {
                shadow.copy_of(page, place);
            }
        }
        let verification = Verification {
            shadow,
            contents: Vec::new(),
            versions: Vec::new(),
        };
        self.verification = Some(Box::new(verification));
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
    /// The array, to look at.
    pub fn array(&self) -> &Array {
        &self.array
    }
    /// What each die has been used for.
    pub fn usage(&self) -> impl Iterator<Item = Usage> + '_ {
        self.backend.usage()
    }
    /// How long each bus has been held since the power came.
    pub fn buses_busy(&self) -> impl Iterator<Item = BusyTime> + '_ {
        self.backend.buses_busy()
    }
    /// How long each die has been occupied since the power came.
    pub fn dies_busy(&self) -> impl Iterator<Item = BusyTime> + '_ {
        self.backend.dies_busy()
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
        cx: &mut Context<'_, impl Probe<Observation>>,
        ticket: Ticket,
        request: &Request,
    ) -> Result<(), DeviceError> {
        if request.op == Op::Flush {
            // What is done is in the flash.
            self.expect(ticket, 1);
            self.page_done(cx, ticket, PageParts::NONE);
            return Ok(());
        }
        let end = request.offset + request.bytes;
        let first = request.offset / self.page_bytes;
        let last = (end - 1) / self.page_bytes;
        self.expect(ticket, (last - first) as u32 + 1);
        let mut page = first;
        if request.op == Op::Write {
            page = self.write_rows(cx, ticket, request);
        }
        while page <= last {
            let from = request.offset.max(page * self.page_bytes) - page * self.page_bytes;
            let bytes = end.min((page + 1) * self.page_bytes) - page * self.page_bytes - from;
            let span = Span {
                from: from as u32,
                bytes: bytes as u32,
                whole: bytes == self.page_bytes,
            };
            let number = Lpn(page as u32);
            match request.op {
                Op::Read => self.read(cx, ticket, number)?,
                Op::Write => self.write(cx, ticket, number, span, false),
                Op::Trim if span.whole => {
                    self.write(cx, ticket, number, span, true);
                }
                Op::Trim | Op::Flush => self.page_done(cx, ticket, PageParts::NONE),
            }
            page += 1;
        }
        Ok(())
    }

    /// Writes the first pages of a request, as far as they are whole and find their places at once;
    /// returns the first page that is left.
    #[inline]
    fn write_rows(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        ticket: Ticket,
        request: &Request,
    ) -> u64 {
        let first = request.offset / self.page_bytes;
        let end = (request.offset + request.bytes) / self.page_bytes;
        if first * self.page_bytes != request.offset || self.follows || self.issue.is_some() {
            return first;
        }
        let (mut next, end) = (first as u32, end as u32);
        while next < end {
            let free = self.before_pending(next..end);
            let placed = self.write_row(cx, ticket, next..free);
            if placed == 0 {
                break;
            }
            next += placed;
        }
        u64::from(next)
    }

    /// The first of some pages that an earlier write is pending for, or their end.
    #[inline]
    fn before_pending(&self, pages: Range<u32>) -> u32 {
        if self.pending.is_empty() {
            return pages.end;
        }
        let mut waiting = pages.clone();
        let pending = waiting.find(|page| self.pending.contains_key(&Lpn(*page)));
        pending.unwrap_or(pages.end)
    }

    /// Writes whole pages that no earlier write is pending for, as many as find their places at once;
    /// none beyond one that may call for a collection.
    #[inline]
    fn write_row(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        ticket: Ticket,
        pages: Range<u32>,
    ) -> u32 {
        let Self {
            layout,
            mapping,
            backend,
            superseding,
            ..
        } = self;
        let Some(bulk) = mapping.bulk() else {
            return 0;
        };
        let (mut count, mut last) = (0, (Plane(0), Lpn(0)));
        let Ok(()) = bulk.write_row(pages, |placed| {
            let Placed {
                page,
                place,
                plane,
                superseded,
            } = placed;
            let mut order = Order::new(Purpose::Write, place, ticket, page.0);
            if let Some(block) = superseded {
                superseding[block.index()] += 1;
                order.superseded = block.0 + 1;
            }
            backend.enqueue(cx, layout.die_of(plane), &order);
            (count, last) = (count + 1, (plane, page));
            Ok::<(), Infallible>(())
        });
        if count > 0 {
            cx.observe(Observation::PagesWritten { pages: count });
            self.observe_free_blocks(cx);
            let (plane, page) = last;
            self.look_at_free_blocks(cx, plane, page);
        }
        count
    }

    /// A page has been placed: collects where free blocks are few.
    #[inline]
    fn look_at_free_blocks(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        plane: Plane,
        written: Lpn,
    ) {
        if self.mapping.wants_collection(plane) {
            self.free_blocks_are_few(cx, plane, Some(written));
        }
    }

    /// Begins with what the buffer asks for a page.
    #[cold]
    pub fn begin_page(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        ticket: Ticket,
        request: &PageRequest,
    ) -> Result<(), DeviceError> {
        self.expect(ticket, 1);
        let all = Span {
            from: 0,
            bytes: self.page_bytes as u32,
            whole: true,
        };
        let page = Lpn(request.page.0);
        match request.op {
            PageOp::Fetch => self.read(cx, ticket, page)?,
            PageOp::Destage(span) => self.write(cx, ticket, page, span, false),
            PageOp::Trim => self.write(cx, ticket, page, all, true),
        }
        Ok(())
    }

    /// A request of so many pages begins.
    #[inline]
    fn expect(&mut self, ticket: Ticket, pages: u32) {
        let owner = ticket as usize;
        if self.remaining.len() <= owner {
            self.remaining.resize(owner + 1, 0);
        }
        self.remaining[owner] = pages;
        self.serving += 1;
        if let Some(stage) = &mut self.issue {
            stage.begin(ticket);
        }
    }

    #[inline(always)]
    fn read(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        owner: u32,
        page: Lpn,
    ) -> Result<(), DeviceError> {
        let mut oldest = NO_VERSION;
        if let Some(verification) = &mut self.verification {
            let filled = self.mapping.lookup(page).is_some();
            oldest.number = verification.shadow.begin_read(page, filled);
        }
        let read = PageRead {
            owner,
            page,
            parts: PageParts::NONE,
            since: cx.now,
            oldest,
        };
        if let Some(job) = self.mapping.fetch(page, false) {
            self.wait_for_map(cx, job, Waiter::Read(read));
            return Ok(());
        }
        self.read_mapped(cx, &read)
    }

    /// Reads a page scope map entry is in memory.
    #[inline(always)]
    fn read_mapped(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        read: &PageRead,
    ) -> Result<(), DeviceError> {
        let PageRead {
            owner,
            page,
            parts,
            oldest,
            ..
        } = *read;
        if let Some(place) = self.mapping.lookup(page) {
            self.array.foresee(place);
            let order = Order::new(Purpose::Read, place, owner, page.0);
            let slot = self.issue(cx, &order);
            if parts != PageParts::NONE {
                self.backend.add_earlier(slot, &parts);
            }
            if let Some(verification) = &mut self.verification {
                verification.note(slot, 0, oldest);
            }
            if self.issue.is_none() {
                self.backend.preempt(cx, slot, &self.array);
            }
            return Ok(());
        }
        self.read_unwritten(cx, read)
    }

    /// Reads a page that was never written: it is done at once.
    #[cold]
    fn read_unwritten(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        read: &PageRead,
    ) -> Result<(), DeviceError> {
        let PageRead {
            owner,
            page,
            parts,
            oldest,
            ..
        } = *read;
        cx.observe(Observation::UnwrittenRead);
        if let Some(verification) = &mut self.verification {
            let checked =
                verification
                    .shadow
                    .check(cx.now, page, oldest.number, Shadow::unwritten(), None);
            checked.map_err(DeviceError::Verification)?;
        }
        self.page_done(cx, owner, parts);
        Ok(())
    }

    #[inline]
    fn write(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        owner: u32,
        page: Lpn,
        span: Span,
        trim: bool,
    ) {
        let Span { from, bytes, whole } = span;
        let mut version = NO_VERSION;
        if let Some(verification) = &mut self.verification {
            let filled = self.mapping.lookup(page).is_some();
            let shadow = &mut verification.shadow;
            version = if trim {
                shadow.issue_trim(cx.now, page, filled)
            } else {
                shadow.issue(cx.now, page, filled, from, bytes, !whole)
            };
        }
        let (parts, base) = (PageParts::default(), Shadow::unwritten());
        let write = PageWrite {
            owner,
            page,
            whole,
            trim,
            parts,
            since: cx.now,
            version,
            base,
        };
        if !self.pending.is_empty()
            && let Some(&tag) = self.pending.get(&page)
        {
            self.held[tag as usize].later.push_back(write);
            return;
        }
        self.accept(cx, &write, &mut VecDeque::new());
    }

    /// Takes on a write of a page that no earlier write is pending for, and then those behind it.
    fn advance(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        write: PageWrite,
        mut later: VecDeque<PageWrite>,
    ) {
        let mut write = write;
        while self.accept(cx, &write, &mut later) {
            let Some(mut next) = later.pop_front() else {
                return;
            };
            next.parts.die_wait += cx.now - next.since;
            next.since = cx.now;
            write = next;
        }
    }

    /// Takes on a write of a page that no earlier write is pending for. False if it has to be held,
    /// and `later` with it.
    #[inline]
    fn accept(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        write: &PageWrite,
        later: &mut VecDeque<PageWrite>,
    ) -> bool {
        if let Some(job) = self.mapping.fetch(write.page, true) {
            let tag = self.add_pending(write, later);
            self.held[tag as usize].write.since = cx.now;
            self.wait_for_map(cx, job, Waiter::Write(tag));
            return false;
        }
        let rest = if write.whole {
            None
        } else {
            self.mapping.lookup(write.page)
        };
        if let Some(place) = rest {
            self.merge(cx, write, later, place);
            return false;
        }
        if write.trim {
            self.discard(cx, write);
            return true;
        }
        match self.find_place(cx, write.page) {
            Ok(place) => {
                self.program(cx, write, place);
                true
            }
            Err(want) => {
                let tag = self.add_pending(write, later);
                self.stall(cx, tag, want);
                false
            }
        }
    }

    /// Keeps a write that cannot be placed yet, with those behind it.
    #[cold]
    fn add_pending(&mut self, write: &PageWrite, later: &mut VecDeque<PageWrite>) -> u32 {
        let page = write.page;
        let held = Held {
            write: *write,
            later: std::mem::take(later),
        };
        let tag = if let Some(tag) = self.vacant_held.pop() {
            self.held[tag as usize] = held;
            tag
        } else {
            self.held.push(held);
            self.held.len() as u32 - 1
        };
        self.pending.insert(page, tag);
        tag
    }

    /// Reads the page of which the write covers a part.
    fn merge(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        write: &PageWrite,
        later: &mut VecDeque<PageWrite>,
        place: Ppn,
    ) {
        let (owner, parts) = (write.owner, write.parts);
        let tag = self.add_pending(write, later);
        cx.observe(Observation::PageMerged);
        let order = Order::new(Purpose::Merge, place, owner, tag);
        let slot = self.issue(cx, &order);
        self.backend.add_earlier(slot, &parts);
        if let Some(verification) = &mut self.verification {
            verification.note(slot, 0, NO_VERSION);
        }
        if self.issue.is_none() {
            self.backend.preempt(cx, slot, &self.array);
        }
    }

    /// A place for a write, and the block of the copy that it supersedes (1 + block, or 0). Where
    /// the schedule puts collections off, a free block takes the place of a full update block.
    #[inline]
    fn find_place(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        page: Lpn,
    ) -> Result<Place, Want> {
        let before = self.mapping.lookup(page);
        let superseded = before.map_or(0, |before| self.layout.block_of(before).0 + 1);
        match self.mapping.write(page) {
            Written::Placed(place) => Ok(Place { place, superseded }),
            Written::Wait(want) => {
                let place = self.replace(cx, page, want)?;
                Ok(Place { place, superseded })
            }
        }
    }

    #[cold]
    fn replace(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        page: Lpn,
        want: Want,
    ) -> Result<Ppn, Want> {
        let Want::Update(_, block) = want else {
            return Err(want);
        };
        if !self.scheduling.policy().replaces() || !self.mapping.replace(block) {
            return Err(want);
        }
        cx.observe(Observation::Replaced);
        self.observe_free_blocks(cx);
        match self.mapping.write(page) {
            Written::Placed(place) => Ok(place),
            Written::Wait(want) => Err(want),
        }
    }

    /// Trims a page.
    fn discard(&mut self, cx: &mut Context<'_, impl Probe<Observation>>, write: &PageWrite) {
        let PageWrite {
            owner,
            page,
            parts,
            version,
            ..
        } = *write;
        self.mapping.trim(page);
        cx.observe(Observation::PageTrimmed);
        if let Some(verification) = &mut self.verification {
            verification.shadow.acknowledge(cx.now, page, version);
        }
        self.page_done(cx, owner, parts);
    }

    /// Queues a held write until there is room.
    #[cold]
    fn stall(&mut self, cx: &mut Context<'_, impl Probe<Observation>>, tag: u32, want: Want) {
        self.held[tag as usize].write.since = cx.now;
        match want {
            Want::Free(plane) | Want::Update(plane, _) => {
                self.chips.stalls(self.layout.die_of(plane));
                self.stalled[plane.index()].push_back(tag);
            }
            Want::Anywhere => self.stalled_anywhere.push_back(tag),
        }
        if want != Want::Anywhere || self.stalled_anywhere.len() == 1 {
            self.demand(cx, want);
        }
    }

    /// Takes a held write out of the table, with those behind it.
    fn take_pending(&mut self, tag: u32) -> (PageWrite, VecDeque<PageWrite>) {
        let Held { write, later } = &mut self.held[tag as usize];
        let (write, later) = (*write, std::mem::take(later));
        self.pending.remove(&write.page);
        self.vacant_held.push(tag);
        (write, later)
    }

    /// Places a held write; fails if there is still no room.
    fn place_pending(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        tag: u32,
    ) -> Result<(), Want> {
        let page = self.held[tag as usize].write.page;
        let place = self.find_place(cx, page)?;
        let (mut write, mut later) = self.take_pending(tag);
        write.parts.gc += cx.now - write.since;
        self.program(cx, &write, place);
        if let Some(mut next) = later.pop_front() {
            next.parts.die_wait += cx.now - next.since;
            next.since = cx.now;
            self.advance(cx, next, later);
        }
        Ok(())
    }

    /// What waited for a part of the map goes on: the entry may have left memory again.
    fn map_read(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        waiter: Waiter,
    ) -> Result<(), DeviceError> {
        match waiter {
            Waiter::Write(tag) => {
                let (mut write, later) = self.take_pending(tag);
                write.parts.die_wait += cx.now - write.since;
                write.since = cx.now;
                self.advance(cx, write, later);
            }
            Waiter::Read(mut read) => {
                read.parts.die_wait += cx.now - read.since;
                read.since = cx.now;
                if let Some(job) = self.mapping.fetch(read.page, false) {
                    self.wait_for_map(cx, job, Waiter::Read(read));
                } else {
                    self.read_mapped(cx, &read)?;
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn program(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        write: &PageWrite,
        place: Place,
    ) {
        let Place { place, superseded } = place;
        if superseded != 0 {
            self.superseding[superseded as usize - 1] += 1;
        }
        cx.observe(Observation::PagesWritten { pages: 1 });
        self.observe_free_blocks(cx);
        let PageWrite {
            owner,
            page,
            parts,
            version,
            base,
            ..
        } = *write;
        let order = Order {
            superseded,
            ..Order::new(Purpose::Write, place, owner, page.0)
        };
        let slot = self.issue(cx, &order);
        if parts != PageParts::NONE {
            self.backend.add_earlier(slot, &parts);
        }
        if self.follows {
            self.follow_write(slot, page, version, base, place);
        }
        let plane = self.layout.plane_of(self.layout.block_of(place));
        self.look_at_free_blocks(cx, plane, page);
    }

    /// Tells the probe of the free blocks if their number has changed. Called after whatever takes
    /// or returns a block.
    #[inline]
    fn observe_free_blocks(&mut self, cx: &mut Context<'_, impl Probe<Observation>>) {
        let free = self.mapping.free_blocks();
        if free != self.free_blocks {
            self.free_blocks = free;
            cx.observe(Observation::FreeBlocks { free });
        }
    }

    /// A hold of a bus is over, or a die is ready.
    #[inline]
    pub fn flash(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        event: Flash,
    ) -> Result<(), DeviceError> {
        if self.backend.is_basic() {
            self.flash_of::<Basic>(cx, event)
        } else {
            self.flash_of_any(cx, event)
        }
    }

    #[cold]
    #[inline(never)]
    fn flash_of_any(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        event: Flash,
    ) -> Result<(), DeviceError> {
        self.flash_of::<Full>(cx, event)
    }

    /// The same with these features.
    #[inline(always)]
    fn flash_of<F: Features>(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        event: Flash,
    ) -> Result<(), DeviceError> {
        match event {
            Flash::BusDone(channel) => {
                let ended = self.backend.bus_done::<F>(cx, channel, &self.array);
                if F::SCHEDULE && self.issue.is_some() {
                    self.stir(cx);
                }
                let mut next = ended;
                while let Some(slot) = next {
                    next = if F::MULTI_PLANE {
                        self.backend.joined(slot)
                    } else {
                        None
                    };
                    self.finish(cx, slot)?;
                }
            }
            Flash::Ready(die) => {
                let worked = self.backend.ready::<F>(cx, Die(die), &self.array);
                if let Some(worked) = worked {
                    self.apply_to_array::<F>(cx.now, worked)?;
                }
            }
        }
        Ok(())
    }

    /// What a die's array has done takes effect.
    #[inline(always)]
    fn apply_to_array<F: Features>(
        &mut self,
        now: Time,
        worked: ArrayDone,
    ) -> Result<(), DeviceError> {
        let ArrayDone { head, operation } = worked;
        let mut next = Some(head);
        while let Some(slot) = next {
            let transaction = self.backend.get(slot);
            let (place, target) = (transaction.place, transaction.target);
            next = if F::MULTI_PLANE {
                transaction.joined()
            } else {
                None
            };
            let applied = match operation {
                Operation::Read => self.array.read(place),
                Operation::Program | Operation::Move => self.array.program(target),
                Operation::Erase => self.array.erase(self.layout.block_of(place)),
            };
            if let Err(violation) = applied {
                return Err(DeviceError::Violation { at: now, violation });
            }
            if self.follows {
                self.follow(slot, operation, place, target);
            }
        }
        Ok(())
    }

    /// What a host write carries.
    #[cold]
    fn follow_write(&mut self, slot: Slot, page: Lpn, version: Version, base: u64, place: Ppn) {
        if let Some(spares) = &mut self.spares {
            spares.carry_host(slot, page);
        }
        if let Some(verification) = &mut self.verification {
            let content = verification.shadow.write(page, version, base, place);
            verification.note(slot, content, version);
        }
    }

    /// What the array has done to its pages.
    #[cold]
    fn follow(&mut self, slot: Slot, operation: Operation, place: Ppn, target: Ppn) {
        if let Some(spares) = &mut self.spares
            && matches!(operation, Operation::Program | Operation::Move)
        {
            spares.programmed(slot, target);
        }
        if let Some(verification) = &mut self.verification {
            let content = &mut verification.contents[slot as usize];
            match operation {
                Operation::Read => *content = verification.shadow.read(place),
                Operation::Program | Operation::Move => {
                    verification.shadow.program(target, *content);
                }
                Operation::Erase => verification.shadow.erase(place),
            }
        }
    }

    /// A transaction has left the back end.
    #[inline(always)]
    fn finish(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        slot: Slot,
    ) -> Result<(), DeviceError> {
        let transaction = self.backend.get(slot);
        let (purpose, place, owner) = (transaction.purpose, transaction.place, transaction.owner);
        let tag = transaction.tag;
        let superseded = transaction.superseded;
        match purpose {
            Purpose::Read => {
                self.check_read(cx.now, slot, Lpn(tag), place)?;
                self.transaction_done(cx, owner, slot);
                self.backend.release(slot);
            }
            Purpose::Write => {
                if let Some(verification) = &mut self.verification {
                    let version = verification.versions[slot as usize];
                    verification.shadow.acknowledge(cx.now, Lpn(tag), version);
                }
                if superseded != 0 {
                    self.is_superseded(cx, Block(superseded - 1));
                }
                self.transaction_done(cx, owner, slot);
                self.backend.release(slot);
            }
            Purpose::Merge => {
                let write = &mut self.held[tag as usize].write;
                write.parts = self.backend.parts(slot);
                write.since = cx.now;
                if let Some(verification) = &self.verification {
                    write.base = verification.contents[slot as usize];
                }
                self.backend.release(slot);
                if let Err(want) = self.place_pending(cx, tag) {
                    self.stall(cx, tag, want);
                }
            }
            Purpose::MoveRead => {
                self.backend.release(slot);
                self.move_page(cx, slot, place, JobId(owner))?;
            }
            Purpose::MoveProgram | Purpose::Move => {
                self.backend.release(slot);
                self.page_moved(cx, JobId(owner))?;
            }
            Purpose::Erase => {
                self.backend.release(slot);
                self.block_erased(cx, place, JobId(owner));
                self.step_done(cx, JobId(owner))?;
            }
            Purpose::MetadataRead
            | Purpose::MetadataProgram
            | Purpose::MapRead
            | Purpose::MapProgram => {
                self.backend.release(slot);
                self.step_done(cx, JobId(owner))?;
            }
        }
        if self.jobs.any_paused() {
            self.resume(cx)?;
        }
        Ok(())
    }

    #[inline]
    fn check_read(
        &mut self,
        now: Time,
        slot: Slot,
        page: Lpn,
        place: Ppn,
    ) -> Result<(), DeviceError> {
        let Some(verification) = &mut self.verification else {
            return Ok(());
        };
        let oldest = verification.versions[slot as usize].number;
        let content = verification.contents[slot as usize];
        let checked = verification
            .shadow
            .check(now, page, oldest, content, Some(place));
        checked.map_err(DeviceError::Verification)
    }

    /// A page of a request is done that has been through these parts; with the last one, so is the
    /// request.
    #[inline]
    fn page_done(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        ticket: Ticket,
        parts: PageParts,
    ) {
        if self.is_last(ticket) {
            self.done.push(Done { ticket, parts });
            self.ends(cx, ticket);
        }
    }
    /// The same of a page scope transaction is over.
    #[inline]
    fn transaction_done(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        ticket: Ticket,
        slot: Slot,
    ) {
        if self.is_last(ticket) {
            self.last_transaction_done(cx, ticket, slot);
        }
    }
    #[inline(always)]
    fn last_transaction_done(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        ticket: Ticket,
        slot: Slot,
    ) {
        let parts = self.backend.parts(slot);
        self.done.push(Done { ticket, parts });
        self.ends(cx, ticket);
    }
    /// Counts a page of a request that is done, and says whether it is the last.
    #[inline]
    fn is_last(&mut self, ticket: Ticket) -> bool {
        let remaining = &mut self.remaining[ticket as usize];
        *remaining -= 1;
        *remaining == 0
    }
    /// All pages of a request are done.
    #[inline]
    fn ends(&mut self, cx: &mut Context<'_, impl Probe<Observation>>, ticket: Ticket) {
        self.serving -= 1;
        if self.serving == 0 {
            self.becomes_idle(cx);
        }
        self.request_done(ticket);
    }
}
