//! Handling of failed operations of a tier.
//!
//! A page that the flash cannot correct is read from the backing store if the backing store has the
//! same data. Otherwise the read ends with an error. A dirty page is lost if it cannot be read when
//! it is destaged, or if the backing store fails to write it. A partially written page is lost if
//! its rest cannot be read. Reads of a lost page end with an error until the whole page is written,
//! as on a device that has lost a page.
//!
//! At the end of its life the flash accepts no more programs. From then on nothing is admitted,
//! writes go to the backing store, and dirty pages are destaged at once. Pages in flash can still
//! be read. When no page is dirty, a cache with records is retired ([`super::records`]): nothing is
//! restored from it after a power cut.

use wordline_block::{BlockDevice, LatencyComponents, Op, Request, Ticket};
use wordline_ftl::Lpn;
use wordline_kernel::{Probe, Time};

use super::event::Observation;
use super::residents::Held;
use super::tier::{Sub, Task};
use super::{Cached, Instant, Result};

impl<B: BlockDevice> Cached<B> {
    /// Marks a request as failed because one of its pages could not be read or written, and counts
    /// the failure.
    pub(super) fn fail(&mut self, ticket: Ticket) {
        self.figures.host_failures += 1;
        if let Some(open) = self.requests.get_mut(ticket) {
            open.failed = true;
        }
    }
    /// Returns `true` if the flash accepts programs, which it does until the end of its life.
    #[inline]
    pub(super) fn takes_programs(&self) -> bool {
        !self.flash.is_read_only()
    }
    /// Returns `true` if the latest content of a page is lost.
    #[inline]
    pub(super) fn is_lost(&self, page: u64) -> bool {
        !self.lost.is_empty() && self.lost.contains(&page)
    }
    fn lose(&mut self, page: u64) {
        self.figures.pages_lost += u64::from(self.lost.insert(page));
    }
    /// Clears the lost state of a page that was written to flash, if the request wrote the whole
    /// page.
    #[inline]
    pub(super) fn regain(&mut self, ticket: Ticket, page: u64) {
        if !self.is_lost(page) {
            return;
        }
        let request = self.requests.get_mut(ticket).map(|open| open.request);
        if request.is_some_and(|request| self.covers(&request, page)) {
            self.lost.remove(&page);
        }
    }

    /// Handles a failed operation of a tier, depending on its task.
    #[cold]
    pub(super) fn sub_failed(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        sub: &Sub,
        parts: &LatencyComponents,
    ) -> Result<(), B> {
        match sub.task {
            Task::Hit {
                ticket,
                page,
                copy,
                dirty,
            } => self.hit_failed(cx, ticket, (page, copy, dirty), parts),
            Task::Fetch { fetch } => {
                self.fetch_failed(cx, fetch)?;
                self.arrived(cx, &sub.request, fetch, parts)
            }
            Task::Write { .. } if !self.takes_programs() => self.not_programmed(cx, sub),
            Task::Write { ticket, .. } => {
                self.fail(ticket);
                self.sub_done(cx, sub, parts)
            }
            Task::Fill { page, copy, .. } | Task::Update { page, copy, .. } => {
                if self
                    .residents()
                    .find(page)
                    .is_some_and(|(at, _)| at == copy)
                {
                    self.forget_clean(page);
                }
                self.sub_done(cx, sub, parts)
            }
            Task::Rest { waiting } => {
                let sub = self
                    .waiting
                    .get_mut(waiting)
                    .map(|waiting| waiting.sub.task);
                if let Some(Task::Write { ticket, page, .. }) = sub {
                    self.fail(ticket);
                    self.lose(page);
                }
                self.rest_read(cx, waiting, parts)
            }
            Task::RestInFlash { waiting, page } => self.rest_failed(cx, waiting, page, parts),
            Task::Victim { destage, page } => {
                self.lose(page);
                self.victim_read(cx, destage, parts)
            }
            Task::Destage { .. } => {
                self.pages_of(&sub.request).for_each(|page| self.lose(page));
                self.sub_done(cx, sub, parts)
            }
            Task::Below { ticket } => self.below_failed(cx, ticket, sub, parts),
            Task::Record { .. } => self.not_recorded(cx),
        }
    }
    /// Handles the end of the flash's life: destages dirty pages, and retires the cache when there
    /// are none. Returns `true` if a tier has completed an operation immediately.
    #[cold]
    pub(super) fn wind_up(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
    ) -> Result<bool, B> {
        self.clean(cx)?;
        self.retire(cx)?;
        Ok(!self.done.is_empty())
    }
    /// Redirects a page of a write to the backing store, because the flash accepts no more
    /// programs. If the flash had the only copy of the page, the whole page is written there, and
    /// stays dirty until that write completes.
    fn not_programmed(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        sub: &Sub,
    ) -> Result<(), B> {
        let Task::Write {
            ticket,
            page,
            dirty,
            waited,
            ..
        } = sub.task
        else {
            return Ok(());
        };
        waited.and_then(|number| self.waiting.remove(number));
        let Some(open) = self.requests.get_mut(ticket) else {
            return Ok(());
        };
        let request = open.request;
        let is_whole = self.covers(&request, page);
        if dirty && (is_whole || !self.is_lost(page)) {
            let bytes = u64::from(self.plan.page_bytes);
            let end = ((page + 1) * bytes).min(self.backing.user_bytes());
            let all = Request {
                offset: page * bytes,
                bytes: end - page * bytes,
                ..request
            };
            self.ask_below_for(cx, ticket, all)?;
        } else {
            self.keep(cx, page)?;
            let (residents, pages) = self.flash.mapping_mut().parts();
            residents.remove(page, pages);
            self.write_below(cx, ticket, &request, page..page + 1)?;
        }
        self.part_done(cx, ticket, None);
        Ok(())
    }
    /// Handles a hit that the flash could not read. `dirty` states whether the page was newer than
    /// its copy in the backing store when the read was issued. If the page is lost, or was dirty
    /// and still is, the read fails. Otherwise it is served from the backing store.
    fn hit_failed(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        ticket: Ticket,
        (page, copy, dirty): (u64, Lpn, bool),
        parts: &LatencyComponents,
    ) -> Result<(), B> {
        let begun = cx.now - parts.total();
        let is_dirty = self.residents().is_dirty(page);
        if self.is_lost(page) || dirty && is_dirty {
            self.fail(ticket);
            self.part_done(cx, ticket, Some((begun, parts)));
            return Ok(());
        }
        let Some(open) = self.requests.get_mut(ticket) else {
            return Ok(());
        };
        let request = open.request;
        self.figures.hits_uncorrectable += 1;
        self.figures.reads_hit -= u64::from(!open.missed && !open.failed);
        let is_settled = !is_dirty && !self.writing.contains_key(&page);
        if is_settled {
            self.check_below(page)?;
        }
        let found = self.residents().find(page);
        let is_held = found.is_some_and(|(at, held)| at == copy && held != Held::Leaving);
        let mut taken = Vec::new();
        if is_settled && is_held && !self.fetching.contains_key(&page) {
            self.forget_clean(page);
            if self.plan.mode.takes_reads() && self.division.takes(false) && self.takes_programs() {
                taken.push(page);
            }
        }
        self.fetch(cx, ticket, &request, (page, page), taken, *parts)?;
        self.part_done(cx, ticket, None);
        Ok(())
    }
    /// Handles a failed read of the backing store: its request fails, and its pages are not
    /// admitted. Each request that waited for one of the pages reads it from the backing store
    /// itself.
    fn fetch_failed(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        number: u32,
    ) -> Result<(), B> {
        let Some(fetch) = self.fetches.get_mut(number) else {
            return Ok(());
        };
        let (owner, waiters) = fetch.give_up();
        self.fetching.retain(|_, fetch| *fetch != number);
        if let Some(ticket) = owner {
            self.fail(ticket);
        }
        for (ticket, page, since) in waiters {
            self.fetch_alone(cx, ticket, page, since)?;
        }
        Ok(())
    }
    /// Reads a page from the backing store for a request that waited for another request's fetch.
    fn fetch_alone(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        ticket: Ticket,
        page: u64,
        since: Time,
    ) -> Result<(), B> {
        let Some(open) = self.requests.get_mut(ticket) else {
            return Ok(());
        };
        let request = open.request;
        let earlier = LatencyComponents {
            disk_queue: cx.now - since,
            ..LatencyComponents::default()
        };
        self.fetch(cx, ticket, &request, (page, page), Vec::new(), earlier)?;
        self.part_done(cx, ticket, None);
        Ok(())
    }
    /// Handles a failed flash read of the rest of a partially written page. If the page was clean,
    /// its rest is read from the backing store; otherwise the page is lost.
    fn rest_failed(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        waiting: u32,
        page: u64,
        parts: &LatencyComponents,
    ) -> Result<(), B> {
        let Some(held) = self.waiting.get_mut(waiting) else {
            return Ok(());
        };
        let sub = held.sub;
        if let Task::Write {
            ticket,
            dirty: true,
            ..
        } = sub.task
        {
            self.fail(ticket);
            self.lose(page);
            return self.rest_read(cx, waiting, parts);
        }
        held.earlier = *parts;
        if let Task::Write { ticket, .. } = sub.task {
            self.expect(ticket, 0, true);
        }
        self.read_rest_below(cx, page, &sub, waiting)
    }
    /// Handles a write, TRIM or flush that has failed on the backing store and left its data
    /// unchanged. The clean pages of the request are dropped from the cache, because their copies
    /// may differ from the backing store.
    fn below_failed(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        ticket: Ticket,
        sub: &Sub,
        parts: &LatencyComponents,
    ) -> Result<(), B> {
        self.fail(ticket);
        let Request { op, arrival, .. } = sub.request;
        if op != Op::Flush {
            for page in self.pages_of(&sub.request) {
                self.forget_clean(page);
                self.write_over(cx, page)?;
            }
        }
        self.part_done(cx, ticket, Some((arrival, parts)));
        self.unblock(cx)
    }
}
