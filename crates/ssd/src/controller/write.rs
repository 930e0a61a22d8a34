//! Writes and TRIMs of the host and the buffer, until their pages are allocated.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use wordline_block::{Request, Ticket};
use wordline_content_oracle::{ContentOracle, NO_VERSION, Version};
use wordline_dram_buffer::Span;
use wordline_ftl::program_mode::Characteristic;
use wordline_ftl::{Bulk, Lpn, Mapping, Placed, SpaceRequest, WriteOutcome};
use wordline_io_scheduler::Slot;
use wordline_kernel::Time;
use wordline_nand::{Block, Plane, Ppn};

use super::Controller;
use super::base::Base;
use super::collector::Collector;
use super::job::Waiter;
use super::loses_power::LosesPower;
use super::pending::{PageWrite, PendingWrites};
use super::rewrite::Rewrites;
use crate::backend::{Order, Purpose};
use crate::event::Context;
use crate::observation::{DeviceProbe, Observation, PageComponents};
use crate::plan::Plan;

/// Allocated page of a write, and the block of the copy that it supersedes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub place: Ppn,
    pub superseded: Option<Block>,
}

/// Pending writes, and their allocation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Writes {
    pub pending: PendingWrites,
    /// Rewrites; `None` if there is only one program mode.
    pub rewrites: Option<Box<Rewrites>>,
    /// Whether pages are allocated when writes are issued.
    pub places_on_issue: bool,
    /// Whether allocation depends on the loads of the dies.
    allocates_by_load: bool,
    /// Whether the pages of a request are allocated one by one.
    places_singly: bool,
}

impl Writes {
    pub fn new(plan: &Plan) -> Self {
        let allocate = &plan.ftl.config.allocate;
        Self {
            pending: PendingWrites::default(),
            rewrites: Rewrites::new(plan),
            places_on_issue: allocate.is_on_issue() && plan.is_scheduled(),
            allocates_by_load: allocate.is_by_work(),
            places_singly: plan.is_scheduled() || allocate.is_by_work(),
        }
    }
}

impl LosesPower for Writes {
    fn lose_power(&mut self, _now: Time, plan: &Plan) {
        let Self {
            pending,
            rewrites,
            places_on_issue: _,
            allocates_by_load: _,
            places_singly: _,
        } = self;
        *pending = PendingWrites::default();
        *rewrites = Rewrites::new(plan);
    }
}

impl Writes {
    /// Writes the first pages of a request while they are whole and can be allocated at once.
    /// Writes none if pages are tracked or allocated one by one. Returns the first page that was
    /// not written.
    #[inline]
    pub fn write_rows<M: Mapping>(
        &mut self,
        gc: &mut Collector<M>,
        cx: &mut Context<impl DeviceProbe>,
        ticket: Ticket,
        request: &Request,
    ) -> u64 {
        let first = request.offset / gc.base.page_bytes;
        let end = (request.offset + request.bytes) / gc.base.page_bytes;
        if first * gc.base.page_bytes != request.offset || gc.base.follows || self.places_singly {
            return first;
        }
        let (mut next, end) = (first as u32, end as u32);
        while next < end {
            let free = self.pending.first_of(next..end);
            let placed = gc.write_row(cx, ticket, next..free);
            if placed == 0 {
                break;
            }
            next += placed;
        }
        u64::from(next)
    }

    /// Reads the page that a partial write completes.
    fn merge<M: Mapping>(
        &mut self,
        base: &mut Base<M>,
        cx: &mut Context<impl DeviceProbe>,
        write: &PageWrite,
        later: &mut VecDeque<PageWrite>,
        place: Ppn,
    ) {
        let (owner, parts) = (write.owner, write.parts);
        let tag = self.pending.add(write, later);
        cx.observe(Observation::PageMerged);
        let order = Order::new(Purpose::Merge, place, owner, tag);
        base.issue_read(cx, &order, &parts, NO_VERSION);
    }

    /// Allocates a page to a write, and returns it with the block of the superseded copy. If the
    /// schedule defers GC, a free block replaces a full update block.
    #[inline]
    pub fn find_place<M: Mapping>(
        &self,
        gc: &mut Collector<M>,
        cx: &mut Context<impl DeviceProbe>,
        page: Lpn,
    ) -> Result<Place, SpaceRequest> {
        if self.allocates_by_load {
            gc.tell_work();
        }
        let before = gc.base.mapping.lookup(page);
        let superseded = before.map(|before| gc.base.flash.layout.block_of(before));
        let place = match gc.base.mapping.write(page) {
            WriteOutcome::Placed(place) => place,
            WriteOutcome::Blocked(want) => gc.replace(cx, page, want)?,
        };
        Ok(Place { place, superseded })
    }

    /// Handles the read of the page that a partial write completes.
    pub fn merged<M: Mapping>(&mut self, base: &mut Base<M>, now: Time, slot: Slot) {
        let transaction = base.flash.backend.get(slot);
        let (tag, owner, place) = (transaction.tag, transaction.owner, transaction.place);
        let write = self.pending.get_mut(tag);
        write.parts = base.flash.backend.parts(slot);
        write.since = now;
        if base.has_page_conditions {
            let grade = base.flash.backend.graded(slot);
            write.decode = grade.decode;
            if grade.failed {
                write.lost = true;
                base.conditions.lose(place);
                base.conditions.fail(owner);
            }
        }
        write.base = base.contents.of(slot).unwrap_or(write.base);
        base.flash.backend.release(slot);
    }

    /// Sets the program mode of a write that is issued now, and queues its rewrite if one is
    /// needed.
    #[cold]
    pub fn grade_write<M: Mapping>(
        &mut self,
        gc: &mut Collector<M>,
        place: Ppn,
        write: &PageWrite,
    ) {
        let waits = || self.pending.any_of_others(write.owner, gc.stalled.all());
        let rewrite = gc
            .base
            .conditions
            .grade_write(&mut gc.base.flash, place, write, waits);
        if rewrite && let Some(rewrites) = &mut self.rewrites {
            rewrites.queue(&gc.base.flash.layout, write.page, place);
        }
    }

    #[inline]
    fn program<M: Mapping>(
        &mut self,
        gc: &mut Collector<M>,
        cx: &mut Context<impl DeviceProbe>,
        write: &PageWrite,
        place: Place,
    ) {
        let Place { place, superseded } = place;
        gc.base.flash.supersedes(superseded);
        cx.observe(Observation::PagesWritten { pages: 1 });
        gc.base.observe_free_blocks(cx);
        let purpose = Purpose::of_write(write.fill);
        let mut order = Order::new(purpose, place, write.owner, write.page.0);
        order.superseded = superseded.into();
        gc.base.mapping.placed(place, write.label);
        if gc.base.has_page_conditions {
            self.grade_write(gc, place, write);
        }
        let slot = gc.base.issue(cx, &order);
        gc.base.flash.backend.fill(slot, write.fill);
        if write.parts != PageComponents::NONE {
            gc.base.flash.backend.add_earlier(slot, &write.parts);
        }
        if gc.base.follows {
            gc.base.contents.follow_write(slot, write, place);
        }
        gc.base.summarize(cx);
        let plane = gc.base.flash.layout.plane_of_page(place);
        gc.look_at_free_blocks(cx, plane, write.page);
    }
}

impl<M: Mapping> Collector<M> {
    /// Writes whole pages without pending writes, as many as can be allocated at once, up to the
    /// first that takes a free block or may trigger GC. Returns their number.
    #[inline]
    fn write_row(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        ticket: Ticket,
        pages: Range<u32>,
    ) -> u32 {
        let layout = &self.base.flash.layout;
        let (backend, superseding) = (
            &mut self.base.flash.backend,
            &mut self.base.flash.superseding,
        );
        let Some(bulk) = self.base.mapping.bulk() else {
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
                order.superseded = superseded.into();
            }
            backend.enqueue(cx, layout.die_of(plane), &order);
            (count, last) = (count + 1, (plane, page));
            Ok::<(), Infallible>(())
        });
        if count > 0 {
            cx.observe(Observation::PagesWritten { pages: count });
            self.base.observe_free_blocks(cx);
            let (plane, page) = last;
            self.look_at_free_blocks(cx, plane, page);
        }
        count
    }

    /// Replaces a full update block with a free one if the schedule defers GC, and allocates the
    /// write there.
    #[cold]
    fn replace(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        page: Lpn,
        want: SpaceRequest,
    ) -> Result<Ppn, SpaceRequest> {
        let SpaceRequest::Update(_, block) = want else {
            return Err(want);
        };
        if !self.scheduling.policy().replaces() || !self.base.mapping.replace(block) {
            return Err(want);
        }
        cx.observe(Observation::Replaced);
        self.base.observe_free_blocks(cx);
        match self.base.mapping.write(page) {
            WriteOutcome::Placed(place) => Ok(place),
            WriteOutcome::Blocked(want) => Err(want),
        }
    }
}

impl<M: Mapping> Base<M> {
    /// Records a write or TRIM of a tracked page, and returns its version and the page's access
    /// characteristic.
    #[cold]
    pub fn follow_coming(
        &mut self,
        now: Time,
        page: Lpn,
        span: &Span,
        trim: bool,
    ) -> (Version, Characteristic) {
        self.before_write(page);
        let mut version = NO_VERSION;
        if let Some(verification) = &mut self.contents.verification {
            let filled = self.mapping.lookup(page).is_some();
            let oracle = &mut verification.oracle;
            let Span {
                from, bytes, whole, ..
            } = *span;
            version = if trim {
                oracle.issue_trim(now, page, filled)
            } else {
                oracle.issue(now, page, filled, from, bytes, !whole)
            };
        }
        let found = if trim {
            Characteristic::New
        } else {
            self.conditions.accessed(page, true)
        };
        (version, found)
    }
}

impl<M: Mapping> Controller<M> {
    #[inline]
    pub(super) fn write(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        owner: u32,
        page: Lpn,
        span: Span,
        trim: bool,
    ) {
        let whole = span.whole;
        let (mut version, mut found) = (NO_VERSION, Characteristic::New);
        if self.gc.base.follows {
            if self.gc.base.conditions.is_read_only() {
                self.gc.refuse_now(cx, owner);
                return;
            }
            (version, found) = self.gc.base.follow_coming(cx.now, page, &span, trim);
        }
        let (parts, base) = (PageComponents::default(), ContentOracle::unwritten());
        let write = PageWrite {
            owner,
            page,
            whole,
            fill: self.gc.base.page_bytes as u32 - span.written,
            trim,
            parts,
            since: cx.now,
            version,
            base,
            label: self.gc.base.mapping.label(page),
            found,
            decode: Time::ZERO,
            lost: false,
        };
        if self.writes.pending.queue_behind(&write) {
            return;
        }
        self.accept(cx, &write, &mut VecDeque::new());
    }

    /// Accepts a write of a page without a pending write, and then those behind it.
    pub(super) fn advance(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        write: PageWrite,
        mut later: VecDeque<PageWrite>,
    ) {
        let mut write = write;
        while self.accept(cx, &write, &mut later) {
            let Some(mut next) = later.pop_front() else {
                break;
            };
            next.parts.die_wait += cx.now - next.since;
            next.since = cx.now;
            write = next;
        }
    }

    /// Accepts a write of a page without a pending write. Returns `false` if the write and those in
    /// `later` have to wait.
    #[inline]
    fn accept(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        write: &PageWrite,
        later: &mut VecDeque<PageWrite>,
    ) -> bool {
        if write.trim && self.trims.writes_map {
            self.trims.discard_through(&mut self.gc, cx, write);
            return true;
        }
        if let Some(job) = self.gc.base.mapping.fetch(write.page, true) {
            let tag = self.writes.pending.add(write, later);
            self.writes.pending.get_mut(tag).since = cx.now;
            self.gc.wait_for_map(cx, job, Waiter::Write(tag));
            return false;
        }
        if !write.whole
            && let Some(place) = self.gc.base.mapping.lookup(write.page)
        {
            self.writes
                .merge(&mut self.gc.base, cx, write, later, place);
            return false;
        }
        if write.trim {
            if let Some(job) = self.gc.discard(cx, write) {
                self.collection_over(cx, &job);
            }
            return true;
        }
        if self.writes.places_on_issue
            && self
                .writes
                .defer_allocation(&mut self.gc.base, cx, write, later)
        {
            return false;
        }
        match self.writes.find_place(&mut self.gc, cx, write.page) {
            Ok(place) => {
                self.writes.program(&mut self.gc, cx, write, place);
                true
            }
            Err(want) => {
                let tag = self.writes.pending.add(write, later);
                self.stall(cx, tag, want);
                false
            }
        }
    }

    /// Queues a pending write until there is space.
    #[cold]
    pub(super) fn stall(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        tag: u32,
        want: SpaceRequest,
    ) {
        self.writes.pending.get_mut(tag).since = cx.now;
        match want {
            SpaceRequest::Free(plane) | SpaceRequest::Update(plane, _) => {
                self.gc
                    .die_loads
                    .stalls(self.gc.base.flash.layout.die_of(plane));
                self.gc.stalled.planes[plane.index()].push_back(tag);
            }
            SpaceRequest::Anywhere => self.gc.stalled.anywhere.push_back(tag),
        }
        if want != SpaceRequest::Anywhere || self.gc.stalled.anywhere.len() == 1 {
            self.demand(cx, want);
        }
    }

    /// Allocates a pending write, or ends it with an error if the device is read-only. Fails if
    /// there is still no space.
    pub(super) fn place_pending(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        tag: u32,
    ) -> Result<(), SpaceRequest> {
        if self.gc.base.has_page_conditions && self.gc.base.conditions.is_read_only() {
            self.refuse_pending(cx, tag);
            return Ok(());
        }
        let page = self.writes.pending.get_mut(tag).page;
        let place = self.writes.find_place(&mut self.gc, cx, page)?;
        let (mut write, mut later) = self.writes.pending.take(tag);
        write.parts.gc += cx.now - write.since;
        self.writes.program(&mut self.gc, cx, &write, place);
        if let Some(mut next) = later.pop_front() {
            next.parts.die_wait += cx.now - next.since;
            next.since = cx.now;
            self.advance(cx, next, later);
        }
        Ok(())
    }
}
