//! Writes, TRIMs and flushes.

use std::ops::Range;

use wordline_block::{BlockDevice, Op, Request, Ticket};
use wordline_kernel::{Probe, Time};

use super::admission::Admit;
use super::config::Mode;
use super::event::Observation;
use super::residents::Held;
use super::tier::{Sub, Task};
use super::versions::Durability;
use super::{Cached, Instant, Result};

/// Destination of a page of a write.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Below,
    Both,
    Flash,
}

impl<B: BlockDevice> Cached<B> {
    pub(super) fn write(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        ticket: Ticket,
        request: &Request,
    ) -> Result<(), B> {
        self.figures.writes += u64::from(request.op == Op::Write);
        if self.plan.mode.keeps_writes() && request.op == Op::Write {
            self.filter.comes(request);
        }
        // Keeps the request from completing before all its pages have been started.
        self.expect(ticket, 1, false);
        let mut below: Option<Range<u64>> = None;
        for page in self.pages_of(request) {
            *self.writing.entry(page).or_default() += 1;
            self.issue_version(page);
        }
        for page in self.pages_of(request) {
            if let Some(fetch) = self.fetching.remove(&page)
                && let Some(fetch) = self.fetches.get_mut(fetch)
            {
                fetch.pages.retain(|other| *other != page);
            }
            match self.way(request, page) {
                Way::Flash => {
                    if let Some(pages) = below.take() {
                        self.write_below(cx, ticket, request, pages)?;
                    }
                    self.write_to_flash(cx, ticket, request, page)?;
                    continue;
                }
                Way::Both => self.update(cx, ticket, request, page)?,
                Way::Below => self.forget_clean(page),
            }
            below = Some(below.map_or(page, |pages| pages.start)..page + 1);
        }
        if let Some(pages) = below {
            self.write_below(cx, ticket, request, pages)?;
        }
        self.part_done(cx, ticket, None);
        Ok(())
    }
    pub(super) fn covers(&self, request: &Request, page: u64) -> bool {
        let bytes = u64::from(self.plan.page_bytes);
        let end = ((page + 1) * bytes).min(self.backing.user_bytes());
        request.offset <= page * bytes && end <= request.offset + request.bytes
    }
    /// Assigns the next version to a write of a page, if the run is verified.
    fn issue_version(&mut self, page: u64) {
        if let Some(versions) = &mut self.versions {
            let (residents, _) = self.flash.mapping_mut().parts();
            versions.issue(page, residents.next_write());
        }
    }
    /// Returns the destination of a page of a write or TRIM.
    fn way(&mut self, request: &Request, page: u64) -> Way {
        let whole = self.covers(request, page);
        if request.op == Op::Trim {
            return Way::Below;
        }
        match self.plan.mode {
            Mode::WriteAround | Mode::PassThrough => Way::Below,
            Mode::WriteThrough => {
                let map = self.flash.mapping();
                let held = map.owner().find(page);
                match held {
                    Some((copy, Held::Resident))
                        if whole && map.pages().lookup(copy).is_some() && self.takes_programs() =>
                    {
                        Way::Both
                    }
                    _ => Way::Below,
                }
            }
            Mode::WriteBack | Mode::WriteOnly => self.way_back(page, whole),
        }
    }
    /// Returns the destination of a page if writes stay in flash. A partial write of a dirty page
    /// always goes to flash.
    fn way_back(&mut self, page: u64, whole: bool) -> Way {
        let residents = self.residents();
        let held = residents.find(page);
        let dirty = held.is_some_and(|(copy, _)| residents.is_dirty_copy(copy));
        let was_written = dirty || residents.is_written_or_suspected(page);
        let passes_by = self.filter.bypasses() || !self.takes_programs();
        let figures = &mut self.figures;
        if passes_by && (whole || !dirty) {
            figures.writes_bypassed += 1;
            return Way::Below;
        }
        self.tell_page(page, true);
        let figures = &mut self.figures;
        if !self.division.takes(true) && (whole || !dirty) {
            figures.writes_bypassed += 1;
            return Way::Below;
        }
        if held.is_some() {
            figures.write_hits += 1;
            figures.write_hits_written += u64::from(was_written);
        } else if self.filter.admits(page) {
            figures.write_misses += 1;
        } else {
            figures.writes_bypassed += 1;
            return Way::Below;
        }
        Way::Flash
    }
    /// Removes the cached copy of a page that is written to the backing store, unless it is dirty.
    pub(super) fn forget_clean(&mut self, page: u64) {
        let (residents, pages) = self.flash.mapping_mut().parts();
        if !residents.is_dirty(page) {
            self.unfilled.remove(&page);
            self.figures.invalidated += u64::from(residents.remove(page, pages));
        }
    }
    /// Programs a page that is also written to the backing store.
    fn update(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        ticket: Ticket,
        request: &Request,
        page: u64,
    ) -> Result<(), B> {
        let Some((copy, _)) = self.residents().find(page) else {
            return Ok(());
        };
        self.figures.updates += 1;
        if let Some(versions) = &mut self.versions {
            versions.put_issued(page, copy);
        }
        self.expect(ticket, 1, true);
        *self.writing.entry(page).or_default() += 1;
        let sub = Sub {
            request: self.at_copy(Op::Write, copy, request.stream, cx.now),
            task: Task::Update { ticket, page, copy },
        };
        self.ask_flash(cx, sub)
    }
    /// Programs a page that is written to flash only. If the write is partial and the page is not
    /// in flash, the rest is read from the backing store first.
    fn write_to_flash(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        ticket: Ticket,
        request: &Request,
        page: u64,
    ) -> Result<(), B> {
        let whole = self.covers(request, page);
        self.evict_group(page, true);
        let residents = self.residents();
        let held = residents.find(page);
        let is_dirty = held.is_some_and(|(copy, _)| residents.is_dirty_copy(copy));
        // A suspected page has no space in a list until it is revived.
        let has_room = matches!(held, Some((_, Held::Resident | Held::Leaving)));
        let accessed = self.access(page, true)?;
        let copy = accessed.copy;
        if let Some(versions) = &mut self.versions {
            let write = self.flash.mapping().owner().write_of(copy);
            versions.issue(page, write);
        }
        if accessed.was_leaving {
            self.keep(cx, page)?;
        }
        let is_in_flash = !self.unfilled.remove(&page) && accessed.has_copy;
        let rest = !whole && !is_in_flash;
        self.expect(ticket, 1, rest);
        let mut sub = Sub {
            request: self.at_copy(Op::Write, copy, request.stream, cx.now),
            task: Task::Write {
                ticket,
                page,
                copy,
                dirty: is_dirty,
                waited: None,
            },
        };
        // A program that can fail is preceded by a read of the rest of its page. If the rest is
        // unreadable in flash, the backing store may have it. If the program fails, the whole page
        // is still available.
        let may_fail = self.flash.writes_can_fail() || !is_dirty && self.flash.reads_can_fail();
        let rest_in_flash = !whole && !rest && may_fail;
        let waiting = if rest {
            Some(self.read_rest(cx, page, sub)?)
        } else if rest_in_flash {
            Some(self.read_rest_in_flash(cx, page, sub)?)
        } else {
            None
        };
        if !whole && waiting.is_none() {
            self.narrow(&mut sub.request, request, page);
        }
        self.make_room(cx, sub, waiting, has_room && is_in_flash)
    }
    /// Limits a request for a page to the bytes that `request` writes.
    fn narrow(&self, to: &mut Request, request: &Request, page: u64) {
        let bytes = u64::from(self.plan.page_bytes);
        let begin = request.offset.max(page * bytes);
        let end = (request.offset + request.bytes).min((page + 1) * bytes);
        to.offset += begin - page * bytes;
        to.bytes = end - begin;
    }
    /// Reads a partially written page from the backing store. Returns the number of its program,
    /// which waits for the read.
    fn read_rest(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        page: u64,
        sub: Sub,
    ) -> Result<u32, B> {
        let waiting = self.hold(sub);
        self.delay(waiting);
        self.read_rest_below(cx, page, &sub, waiting)?;
        Ok(waiting)
    }
    /// Reads a partially written page from flash. Returns the number of its program, which waits
    /// for the read.
    fn read_rest_in_flash(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        page: u64,
        sub: Sub,
    ) -> Result<u32, B> {
        let waiting = self.hold(sub);
        self.delay(waiting);
        let rest = Sub {
            request: Request {
                op: Op::Read,
                ..sub.request
            },
            task: Task::RestInFlash { waiting, page },
        };
        self.ask_flash(cx, rest)?;
        Ok(waiting)
    }
    /// Reads the rest of a page from the backing store for a waiting program.
    pub(super) fn read_rest_below(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        page: u64,
        sub: &Sub,
        waiting: u32,
    ) -> Result<(), B> {
        self.check_below(page)?;
        self.figures.rests += 1;
        let bytes = u64::from(self.plan.page_bytes);
        let end = ((page + 1) * bytes).min(self.backing.user_bytes());
        let rest = Sub {
            request: Request {
                op: Op::Read,
                offset: page * bytes,
                bytes: end - page * bytes,
                arrival: cx.now,
                ..sub.request
            },
            task: Task::Rest { waiting },
        };
        self.ask_below(cx, rest)
    }
    /// Submits a flush to the backing store. It ends with an error while pages are lost.
    pub(super) fn pass_below(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        ticket: Ticket,
        request: &Request,
    ) -> Result<(), B> {
        if !self.lost.is_empty() {
            self.fail(ticket);
        }
        self.expect(ticket, 1, true);
        self.ask_below_for(cx, ticket, *request)?;
        self.part_done(cx, ticket, None);
        Ok(())
    }
    /// Submits the part of a request that lies in `pages` to the backing store.
    pub(super) fn write_below(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        ticket: Ticket,
        request: &Request,
        pages: Range<u64>,
    ) -> Result<(), B> {
        let bytes = u64::from(self.plan.page_bytes);
        let begin = request.offset.max(pages.start * bytes);
        let end = (request.offset + request.bytes).min(pages.end * bytes);
        let part = Request {
            offset: begin,
            bytes: end - begin,
            ..*request
        };
        self.ask_below_for(cx, ticket, part)
    }
    pub(super) fn ask_below_for(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        ticket: Ticket,
        request: Request,
    ) -> Result<(), B> {
        self.expect(ticket, 1, true);
        // Pages recorded as dead must be on the disk, not in its write cache, and so must pages
        // that replace lost pages.
        let is_any_lost =
            !self.lost.is_empty() && self.pages_of(&request).any(|page| self.is_lost(page));
        let fua = request.fua || is_any_lost || !self.due_of(&request).is_empty();
        let sub = Sub {
            request: Request {
                arrival: cx.now,
                fua,
                ..request
            },
            task: Task::Below { ticket },
        };
        self.ask_below(cx, sub)
    }
    /// Returns the durability of the data that a request wrote to the backing store. Used for
    /// verification.
    pub(super) fn durability(&self, now: Time, request: &Request) -> Durability {
        if request.fua || request.op == Op::Flush || !self.plan.is_backing_volatile {
            return Durability::Durable;
        }
        Durability::Volatile(now)
    }
    /// Applies a write, TRIM or flush that has completed on the backing store: removes the dirty
    /// copies of pages that it covers completely, and ends their lost state.
    pub(super) fn written_below(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        request: &Request,
    ) -> Result<(), B> {
        if request.op == Op::Flush {
            if let Some(versions) = &mut self.versions {
                versions.flushed(request.arrival);
            }
            return Ok(());
        }
        let held = self.durability(cx.now, request);
        for page in self.pages_of(request) {
            let whole = self.covers(request, page);
            let mut newer = false;
            if whole {
                self.lost.remove(&page);
            }
            if self.residents().is_dirty(page) {
                newer = !whole;
                if whole {
                    self.keep(cx, page)?;
                    let (residents, pages) = self.flash.mapping_mut().parts();
                    self.figures.invalidated += u64::from(residents.remove(page, pages));
                }
            }
            if !newer && let Some(versions) = &mut self.versions {
                versions.written_below(page, held);
            }
            self.write_over(cx, page)?;
        }
        Ok(())
    }
    /// Ends a write of a page in one of the tiers. If no other write of the page is in progress, a
    /// destage that waited for it continues.
    pub(super) fn write_over(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        page: u64,
    ) -> Result<(), B> {
        if let Some(count) = self.writing.get_mut(&page) {
            *count -= 1;
            if *count == 0 {
                self.writing.remove(&page);
                if let Some((destage, copy)) = self.stalled.remove(&page) {
                    self.read_victim(cx, destage, (page, copy))?;
                }
            }
        }
        Ok(())
    }
}
