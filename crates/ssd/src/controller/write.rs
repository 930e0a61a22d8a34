//! Writes and trims of the host and of the buffer, until they have their places in the flash.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use wordline_block::{Request, Ticket};
use wordline_dram_buffer::Span;
use wordline_ftl::program_mode::Characteristic;
use wordline_ftl::{Bulk, Lpn, Mapping, Placed, SpaceRequest, Written};
use wordline_kernel::Time;
use wordline_nand::{Plane, Ppn};

use super::Controller;
use super::job::Waiter;
use super::pending::{PageWrite, PendingWrites};
use super::power::LosesPower;
use super::verification::NO_VERSION;
use crate::backend::{Order, Purpose};
use crate::event::Context;
use crate::observation::{DeviceProbe, Observation, PageParts};
use crate::plan::Plan;
use crate::shadow::{Shadow, Version};

/// Where a write goes, and 1 + the block of the copy that it supersedes, or 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub place: Ppn,
    pub superseded: u32,
}

/// Writes without a place, and how they get one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Writes {
    pub pending: PendingWrites,
    /// Whether writes get their places when they are issued.
    pub places_on_issue: bool,
    /// Whether places depend on what the dies have to do.
    allocates_by_load: bool,
    /// Whether pages of a row are placed one by one.
    places_singly: bool,
}

impl Writes {
    pub fn new(plan: &Plan) -> Self {
        let allocate = &plan.ftl.config.allocate;
        Self {
            pending: PendingWrites::default(),
            places_on_issue: allocate.is_on_issue() && plan.is_scheduled(),
            allocates_by_load: allocate.is_by_work(),
            places_singly: plan.is_scheduled() || allocate.is_by_work(),
        }
    }
}

impl LosesPower for Writes {
    fn lose_power(&mut self, _now: Time, _plan: &Plan) {
        let Self {
            pending,
            places_on_issue: _,
            allocates_by_load: _,
            places_singly: _,
        } = self;
        *pending = PendingWrites::default();
    }
}

impl<M: Mapping> Controller<M> {
    /// Writes the first pages of a request, as far as they are whole and find their places at once;
    /// returns the first page that is left.
    #[inline]
    pub(super) fn write_rows(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        ticket: Ticket,
        request: &Request,
    ) -> u64 {
        let first = request.offset / self.base.page_bytes;
        let end = (request.offset + request.bytes) / self.base.page_bytes;
        if first * self.base.page_bytes != request.offset
            || self.base.follows
            || self.writes.places_singly
        {
            return first;
        }
        let (mut next, end) = (first as u32, end as u32);
        while next < end {
            let free = self.writes.pending.first_of(next..end);
            let placed = self.write_row(cx, ticket, next..free);
            if placed == 0 {
                break;
            }
            next += placed;
        }
        u64::from(next)
    }

    /// Writes whole pages that no earlier write is pending for, as many as find their places at once;
    /// none beyond one that may call for a collection.
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
    pub(super) fn look_at_free_blocks(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        plane: Plane,
        written: Lpn,
    ) {
        if self.base.mapping.wants_collection(plane) {
            self.free_blocks_are_few(cx, plane, Some(written));
        }
    }

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
        if self.base.follows {
            if self.is_read_only() {
                self.refuse_now(cx, owner);
                return;
            }
            (version, found) = self.follow_coming(cx.now, page, &span, trim);
        }
        let (parts, base) = (PageParts::default(), Shadow::unwritten());
        let write = PageWrite {
            owner,
            page,
            whole,
            fill: self.base.page_bytes as u32 - span.written,
            trim,
            parts,
            since: cx.now,
            version,
            base,
            label: self.base.mapping.label(page),
            found,
            decode: Time::ZERO,
            lost: false,
        };
        if self.writes.pending.queue_behind(&write) {
            return;
        }
        self.accept(cx, &write, &mut VecDeque::new());
    }

    /// A write or a trim of a page comes where pages are followed: its version, and what its page is used for.
    #[cold]
    fn follow_coming(
        &mut self,
        now: Time,
        page: Lpn,
        span: &Span,
        trim: bool,
    ) -> (Version, Characteristic) {
        self.first_written(page);
        let mut version = NO_VERSION;
        if let Some(verification) = &mut self.base.contents.verification {
            let filled = self.base.mapping.lookup(page).is_some();
            let shadow = &mut verification.shadow;
            let Span {
                from, bytes, whole, ..
            } = *span;
            version = if trim {
                shadow.issue_trim(now, page, filled)
            } else {
                shadow.issue(now, page, filled, from, bytes, !whole)
            };
        }
        let found = if trim {
            Characteristic::New
        } else {
            self.accessed(page, true)
        };
        (version, found)
    }

    /// Takes on a write of a page that no earlier write is pending for, and then those behind it.
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

    /// Takes on a write of a page that no earlier write is pending for. False if it has to be held,
    /// and `later` with it.
    #[inline]
    fn accept(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        write: &PageWrite,
        later: &mut VecDeque<PageWrite>,
    ) -> bool {
        if write.trim && self.trims.writes_map {
            self.discard_through(cx, write);
            return true;
        }
        if let Some(job) = self.base.mapping.fetch(write.page, true) {
            let tag = self.writes.pending.add(write, later);
            self.writes.pending.get_mut(tag).since = cx.now;
            self.wait_for_map(cx, job, Waiter::Write(tag));
            return false;
        }
        if !write.whole
            && let Some(place) = self.base.mapping.lookup(write.page)
        {
            self.merge(cx, write, later, place);
            return false;
        }
        if write.trim {
            self.discard(cx, write);
            return true;
        }
        if self.writes.places_on_issue && self.defer_allocation(cx, write, later) {
            return false;
        }
        match self.find_place(cx, write.page) {
            Ok(place) => {
                self.program(cx, write, place);
                true
            }
            Err(want) => {
                let tag = self.writes.pending.add(write, later);
                self.stall(cx, tag, want);
                false
            }
        }
    }

    /// Reads the page of which the write covers a part.
    fn merge(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        write: &PageWrite,
        later: &mut VecDeque<PageWrite>,
        place: Ppn,
    ) {
        let (owner, parts) = (write.owner, write.parts);
        let tag = self.writes.pending.add(write, later);
        cx.observe(Observation::PageMerged);
        let order = Order::new(Purpose::Merge, place, owner, tag);
        self.issue_read(cx, &order, &parts, NO_VERSION);
    }

    /// A place for a write, and the block of the copy that it supersedes (1 + block, or 0). Where
    /// the schedule puts collections off, a free block takes the place of a full update block.
    #[inline]
    pub(super) fn find_place(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        page: Lpn,
    ) -> Result<Place, SpaceRequest> {
        if self.writes.allocates_by_load {
            self.tell_work();
        }
        let before = self.base.mapping.lookup(page);
        let superseded = before.map_or(0, |before| self.base.flash.layout.block_of(before).0 + 1);
        let place = match self.base.mapping.write(page) {
            Written::Placed(place) => place,
            Written::Wait(want) => self.replace(cx, page, want)?,
        };
        Ok(Place { place, superseded })
    }

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
        if !self.collector.scheduling.policy().replaces() || !self.base.mapping.replace(block) {
            return Err(want);
        }
        cx.observe(Observation::Replaced);
        self.observe_free_blocks(cx);
        match self.base.mapping.write(page) {
            Written::Placed(place) => Ok(place),
            Written::Wait(want) => Err(want),
        }
    }

    /// Queues a held write until there is room.
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
                self.collector
                    .die_loads
                    .stalls(self.base.flash.layout.die_of(plane));
                self.collector.stalled[plane.index()].push_back(tag);
            }
            SpaceRequest::Anywhere => self.collector.stalled_anywhere.push_back(tag),
        }
        if want != SpaceRequest::Anywhere || self.collector.stalled_anywhere.len() == 1 {
            self.demand(cx, want);
        }
    }

    /// Places a held write, or ends it with an error where nothing is written any more; fails if there is still no room.
    pub(super) fn place_pending(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        tag: u32,
    ) -> Result<(), SpaceRequest> {
        if self.base.has_page_conditions && self.is_read_only() {
            self.refuse_pending(cx, tag);
            return Ok(());
        }
        let page = self.writes.pending.get_mut(tag).page;
        let place = self.find_place(cx, page)?;
        let (mut write, mut later) = self.writes.pending.take(tag);
        write.parts.gc += cx.now - write.since;
        self.program(cx, &write, place);
        if let Some(mut next) = later.pop_front() {
            next.parts.die_wait += cx.now - next.since;
            next.since = cx.now;
            self.advance(cx, next, later);
        }
        Ok(())
    }

    #[inline]
    fn program(&mut self, cx: &mut Context<impl DeviceProbe>, write: &PageWrite, place: Place) {
        let Place { place, superseded } = place;
        if superseded != 0 {
            self.base.flash.superseding[superseded as usize - 1] += 1;
        }
        cx.observe(Observation::PagesWritten { pages: 1 });
        self.observe_free_blocks(cx);
        let purpose = Purpose::of_write(write.fill);
        let mut order = Order::new(purpose, place, write.owner, write.page.0);
        order.superseded = superseded;
        self.base.mapping.placed(place, write.label);
        if self.base.has_page_conditions {
            self.grade_write(place, write);
        }
        let slot = self.issue(cx, &order);
        self.base.flash.backend.fill(slot, write.fill);
        if write.parts != PageParts::NONE {
            self.base.flash.backend.add_earlier(slot, &write.parts);
        }
        if self.base.follows {
            self.follow_write(slot, write, place);
        }
        self.summarize(cx);
        let plane = self
            .base
            .flash
            .layout
            .plane_of(self.base.flash.layout.block_of(place));
        self.look_at_free_blocks(cx, plane, write.page);
    }

    /// Tells the probe of the free blocks if their number has changed. Called after whatever takes
    /// or returns a block.
    #[inline]
    pub(super) fn observe_free_blocks(&mut self, cx: &mut Context<impl DeviceProbe>) {
        let free = self.base.mapping.free_blocks();
        if free != self.base.free_blocks {
            self.base.free_blocks = free;
            cx.observe(Observation::FreeBlocks { free });
        }
    }
}
