//! Use of idle time: background GC, look-ahead GC, and folding of the SLC cache.

use serde::{Deserialize, Serialize};
use wordline_ftl::gc::schedule::{Attention, Idle, Trigger};
use wordline_ftl::slc_cache::Caches;
use wordline_ftl::{Cost, Lpn, Mapping, SpaceRequest};
use wordline_kernel::Time;
use wordline_nand::{Operation, Part, Plane};

use super::Controller;
use super::collector::Collector;
use super::idle_periods::{IdleCounts, IdleUse};
use super::pending::PageWrite;
use super::requests::Done;
use crate::error::Result;
use crate::event::{Context, Kind};
use crate::observation::{DeviceProbe, PageComponents};
use crate::plan::Plan;
use wordline_block::{Op, Request, Ticket};
use wordline_io_scheduler::Slot;

/// Times of the flash operations of GC, from command to status.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Times {
    copy: Time,
    program: Time,
    erase: Time,
}

impl Times {
    /// Returns the mean times over the pages of a block.
    fn of(part: &Part) -> Self {
        let pages = u64::from(part.layout.pages_per_block);
        let mean = |operation| {
            let all = (0..part.layout.pages_per_block)
                .map(|page| part.chains.unloaded(operation, page).0)
                .sum::<u64>();
            Time(all / pages)
        };
        let program = mean(Operation::Program);
        Self {
            copy: mean(Operation::Read) + program,
            program,
            erase: part.chains.unloaded(Operation::Erase, 0),
        }
    }
    /// Returns the time of a GC run with this cost (Jung 2013, eq. 7.2).
    fn total(&self, cost: Cost) -> Time {
        Time(
            self.copy.0 * u64::from(cost.pages)
                + self.erase.0 * u64::from(cost.blocks)
                + self.program.0 * u64::from(cost.metadata_pages),
        )
    }
}

/// Idle state of a device whose schedule or SLC cache uses idle time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Idling {
    attention: Attention,
    /// Idle time after which blocks of the SLC cache are folded.
    fold_after: Option<Time>,
    times: Times,
    start_blocks: u32,
    spare_blocks: u32,
    /// Start of the current idle period.
    since: Time,
    /// Time of the next planned check for idle work.
    planned: Option<Time>,
    /// Announced requests of the host. A command becomes known when its announcement is due.
    upcoming: Vec<Request>,
    pub counts: IdleCounts,
    /// Use of the current idle period.
    pub used: IdleUse,
}

impl Idling {
    pub fn new(plan: &Plan) -> Option<Box<Self>> {
        let scheduled = plan.ftl.config.gc.schedule.policy().attention();
        let cache = plan.ftl.config.slc_cache.size();
        let fold_after = cache.map(|size| Time::from_ps((size.fold_after_ms * 1e9).round() as u64));
        if scheduled.is_none() && fold_after.is_none() {
            return None;
        }
        let attention = scheduled.unwrap_or_default();
        Some(Box::new(Self {
            attention,
            fold_after,
            times: Times::of(&plan.part),
            start_blocks: plan.ftl.start_blocks,
            spare_blocks: plan.ftl.spare_blocks(),
            since: Time::ZERO,
            planned: None,
            upcoming: Vec::new(),
            counts: IdleCounts::default(),
            used: IdleUse::default(),
        }))
    }

    /// Restarts idle time at a power cut, which keeps the counts.
    pub fn lose_power(&mut self, now: Time) {
        self.since = now;
        self.planned = None;
        self.upcoming.clear();
        self.used = IdleUse::default();
    }

    /// Ends the idle period. A period without length does not count.
    pub fn ends(&mut self, now: Time) {
        let used = std::mem::take(&mut self.used);
        if now > self.since {
            used.count(&mut self.counts);
        }
    }

    /// Returns the commands whose announcements are due.
    fn announced(&self, now: Time) -> impl Iterator<Item = &Request> {
        let known = now + self.attention.ahead;
        let announced = self
            .upcoming
            .iter()
            .take(self.attention.lookahead_depth as usize);
        announced.filter(move |request| request.arrival <= known)
    }

    /// Returns the time until the next command, if its announcement is due.
    fn left(&self, now: Time) -> Option<Time> {
        let next = self.announced(now).next()?;
        Some(next.arrival.since(now))
    }

    /// Returns the time at which the current idle period becomes a long one.
    fn long(&self) -> Option<Time> {
        self.attention.after.map(|after| self.since + after)
    }

    /// Returns the time at which blocks of the SLC cache are folded, if the idle period lasts.
    pub(super) fn fold_due(&self) -> Option<Time> {
        self.fold_after.map(|after| self.since + after)
    }

    /// Returns the times at which the announcements of the next writes are due.
    fn writes_announced(&self) -> impl Iterator<Item = Time> + '_ {
        let upcoming = self
            .upcoming
            .iter()
            .take(self.attention.lookahead_depth as usize);
        let writes = upcoming.filter(|request| request.op == Op::Write);
        let ahead = self.attention.ahead.0;
        writes.map(move |request| Time(request.arrival.0.saturating_sub(ahead)))
    }
}

impl<M: Mapping> Collector<M> {
    /// Finishes a page of a request with these components; the last page finishes the request.
    #[inline]
    pub fn page_done(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        ticket: Ticket,
        parts: PageComponents,
    ) {
        if self.base.requests.page_done(ticket) {
            self.base.requests.done.push(Done { ticket, parts });
            self.ends(cx, ticket);
        }
    }

    /// Finishes a page of a request whose transaction is over.
    #[inline(always)]
    pub fn transaction_done(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        ticket: Ticket,
        slot: Slot,
    ) {
        if self.base.requests.page_done(ticket) {
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
        let parts = self.base.flash.backend.parts(slot);
        self.base.requests.done.push(Done { ticket, parts });
        self.ends(cx, ticket);
    }

    /// Finishes a request, whose pages are all done.
    #[inline]
    fn ends(&mut self, cx: &mut Context<impl DeviceProbe>, ticket: Ticket) {
        if self.base.requests.end() {
            self.becomes_idle(cx);
        }
        self.base.flash.request_done(ticket);
    }

    /// Ends a pending write or TRIM of a page with an error.
    #[cold]
    pub fn refuse(&mut self, cx: &mut Context<impl DeviceProbe>, write: &PageWrite) {
        self.base.conditions.fail_write(write.owner);
        self.page_done(cx, write.owner, write.parts);
        self.base.page_was_decoded(write.owner, write.decode);
    }

    /// Fails a page of a request that has just arrived.
    #[cold]
    pub fn refuse_now(&mut self, cx: &mut Context<impl DeviceProbe>, ticket: u32) {
        self.base.conditions.fail_write(ticket);
        self.page_done(cx, ticket, PageComponents::NONE);
    }

    /// Returns how many requests in advance the host should announce through `look_ahead`.
    pub fn lookahead_depth(&self) -> u32 {
        self.idling
            .as_ref()
            .map_or(0, |idling| idling.attention.lookahead_depth)
    }

    /// Announces the next requests of the host, in order of arrival.
    pub fn look_ahead(&mut self, cx: &mut Context<impl DeviceProbe>, upcoming: &[Request]) {
        let Some(idling) = &mut self.idling else {
            return;
        };
        if idling.upcoming == upcoming {
            return;
        }
        idling.upcoming.clear();
        idling.upcoming.extend_from_slice(upcoming);
        if self.base.requests.serving() == 0 {
            self.plan_idle_check(cx, true);
        }
    }

    /// Handles the end of the last request in the device.
    #[inline]
    pub fn becomes_idle(&mut self, cx: &mut Context<impl DeviceProbe>) {
        let Some(idling) = &mut self.idling else {
            return;
        };
        idling.since = cx.now;
        if idling.attention.at_once {
            idling.planned = Some(cx.now);
            cx.schedule(cx.now, Kind::Look);
        } else {
            self.plan_idle_check(cx, true);
        }
    }

    /// Plans the next check for idle work: at an announcement, when the idle period becomes long
    /// and GC has work, or when the SLC cache can be folded. With `unseen`, the check may be
    /// planned for this very instant, because it has not been made yet.
    fn plan_idle_check(&mut self, cx: &mut Context<impl DeviceProbe>, unseen: bool) {
        let Some(idling) = &self.idling else {
            return;
        };
        let announced = idling.writes_announced();
        let announced = announced.filter(|due| unseen || *due > cx.now);
        let announcement = announced.map(|due| due.max(cx.now)).min();
        let long = idling.long();
        let long = long.filter(|long| *long > cx.now || unseen && *long == cx.now);
        let long = long.filter(|_| self.can_collect());
        let fold = idling.fold_due();
        let fold = fold.filter(|fold| *fold > cx.now || unseen && *fold == cx.now);
        let fold = fold.filter(|_| self.can_fold());
        let Some(next) = announcement.into_iter().chain(long).chain(fold).min() else {
            return;
        };
        if let Some(idling) = &mut self.idling
            && idling.planned.is_none_or(|planned| planned > next)
        {
            idling.planned = Some(next);
            cx.schedule(next, Kind::Look);
        }
    }

    /// Returns `true` if background GC has work on any plane.
    fn can_collect(&self) -> bool {
        let mut planes = (0..self.base.flash.layout.planes()).map(Plane);
        let mapping = &self.base.mapping;
        let least_recent = self.scheduling.policy().compacts_least_recent();
        planes.any(|plane| {
            least_recent && mapping.least_recent(plane).is_some()
                || mapping.full(plane).is_some()
                || mapping.delayed(plane).is_some()
                || mapping.reclaim(plane).is_some()
        })
    }

    /// Returns `true` if a block of the SLC cache can be folded on any plane, or a job is paused.
    fn can_fold(&self) -> bool {
        let mut planes = (0..self.base.flash.layout.planes()).map(Plane);
        self.jobs.any_paused() || planes.any(|plane| self.base.mapping.can_fold(plane))
    }

    /// Starts GC or folding on an idle plane, if the device is idle and its schedule or SLC cache
    /// asks for it.
    pub fn use_idle_time(&mut self, cx: &mut Context<impl DeviceProbe>, plane: Plane) {
        if self.base.requests.serving() > 0 || self.idling.is_none() || self.jobs.collects(plane) {
            return;
        }
        if let Some((want, trigger)) = self.idle_work(cx.now, plane) {
            self.collect(cx, want, trigger);
        }
        self.fold_in_idle_time(cx, plane);
    }

    fn idle_work(&self, now: Time, plane: Plane) -> Option<(SpaceRequest, Trigger)> {
        let idling = self.idling.as_ref()?;
        let left = idling.left(now);
        let idle = Idle {
            since: now - idling.since,
            left,
            free_blocks: self.base.mapping.free_blocks_of(plane),
            start_blocks: idling.start_blocks,
            spare_blocks: idling.spare_blocks,
            delayed: self.base.mapping.delayed(plane),
            reclaim: self.base.mapping.reclaim(plane),
            full: self.base.mapping.full(plane),
            least_recent: self.base.mapping.least_recent(plane),
            shortage: left.and_then(|_| self.shortage(now, plane)),
        };
        self.scheduling.policy().idle(&idle)
    }

    /// Returns the first GC run that the announced writes will need on a plane, and its estimated
    /// duration. `None` if they will need no GC.
    fn shortage(&self, now: Time, plane: Plane) -> Option<(SpaceRequest, Time)> {
        let idling = self.idling.as_ref()?;
        let writes = idling
            .announced(now)
            .filter(|request| request.op == Op::Write);
        let writes = writes.map(|request| {
            let first = request.offset / self.base.page_bytes;
            let last = (request.offset + request.bytes - 1) / self.base.page_bytes;
            (Lpn(first as u32), (last - first) as u32 + 1)
        });
        let writes: Vec<(Lpn, u32)> = writes.collect();
        let want = self.base.mapping.shortage(plane, &writes)?;
        Some((want, idling.times.total(self.base.mapping.cost(want))))
    }
}

impl<M: Mapping> Controller<M> {
    /// Handles [`Kind::Look`].
    pub(crate) fn look(&mut self, cx: &mut Context<impl DeviceProbe>) -> Result<()> {
        self.finish_decoded(cx)?;
        self.check_idle(cx)
    }

    /// Uses idle time, if the device is idle.
    fn check_idle(&mut self, cx: &mut Context<impl DeviceProbe>) -> Result<()> {
        if let Some(idling) = &mut self.gc.idling {
            idling.planned.take_if(|planned| *planned <= cx.now);
        }
        if self.gc.base.requests.serving() > 0 {
            return Ok(());
        }
        if self.gc.jobs.any_paused() {
            self.resume(cx)?;
        }
        for plane in (0..self.gc.base.flash.layout.planes()).map(Plane) {
            self.gc.use_idle_time(cx, plane);
        }
        self.gc.plan_idle_check(cx, false);
        Ok(())
    }
}
