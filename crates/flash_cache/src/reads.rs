//! Reads: hits, fetches from the backing store, and the fills that follow.

use serde::{Deserialize, Serialize};
use wordline_block::{BlockDevice, LatencyComponents, Op, Request, Ticket};
use wordline_cache::Found;
use wordline_ftl::Lpn;
use wordline_kernel::{Probe, Time};

use super::admission::Admit;
use super::config::Reply;
use super::event::{Observation, Pages};
use super::residents::Held;
use super::tier::{Sub, Task};
use super::{Cached, Instant, Result};

/// Read of missed pages from the backing store, and the fills that follow it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Fetch {
    /// Request that waits for the fetch; `None` once the request has completed.
    owner: Option<Ticket>,
    /// Pages to admit when their data arrives. Pages that are written in the meantime are removed.
    pub pages: Vec<u64>,
    /// Pages that other requests requested before the data arrived.
    asked: Vec<u64>,
    /// Whether the data has arrived.
    is_there: bool,
    /// Other requests that wait for a page of this fetch, with the page and the start of their
    /// wait.
    waiters: Vec<(Ticket, u64, Time)>,
    /// Number of outstanding fills.
    left: u32,
    /// Latency components of an earlier, failed read of the pages, if any.
    earlier: LatencyComponents,
    /// Latency components until the data arrived.
    parts: LatencyComponents,
}

impl Fetch {
    /// Ends the fetch without admitting a page. Returns its request, and the other requests that
    /// wait for it.
    pub fn give_up(&mut self) -> (Option<Ticket>, Vec<(Ticket, u64, Time)>) {
        self.pages.clear();
        self.asked.clear();
        (self.owner, std::mem::take(&mut self.waiters))
    }
}

impl<B: BlockDevice> Cached<B> {
    pub(super) fn read(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        ticket: Ticket,
        request: &Request,
    ) -> Result<(), B> {
        self.figures.reads += 1;
        let before = self.figures.found();
        self.filter.comes(request);
        let mut missed: Option<(u64, u64)> = None;
        let mut taken = Vec::new();
        let pages = self.pages_of(request);
        // Keeps the request from completing before all its pages have been started.
        self.expect(ticket, 1, false);
        let told = self.division.is_told() && !self.filter.bypasses();
        for page in pages {
            if self.is_lost(page) {
                self.fail(ticket);
                self.expect(ticket, 1, false);
                self.part_done(cx, ticket, Some((cx.now, &LatencyComponents::default())));
                continue;
            }
            if told {
                self.tell_page(page, false);
            }
            if let Some(&fetch) = self.fetching.get(&page) {
                self.join(cx.now, ticket, page, fetch)?;
                continue;
            }
            if let Some(copy) = self.look_up(page)? {
                self.hit(cx, ticket, request, page, copy)?;
                continue;
            }
            missed = Some((missed.map_or(page, |(first, _)| first), page));
            self.check_below(page)?;
            if self.plan.mode.takes_reads()
                && self.division.takes(false)
                && self.filter.admits(page)
                && self.takes_programs()
            {
                self.figures.misses += 1;
                taken.push(page);
            } else {
                self.figures.bypassed += 1;
            }
        }
        if self.residents().has_victims() {
            self.let_go(cx, request.stream)?;
        }
        let after = self.figures.found();
        let [resident, suspected, joined, not] =
            [0, 1, 2, 3].map(|kind| after[kind] - before[kind]);
        cx.observe(Observation::Found(Pages {
            resident,
            suspected,
            joined,
            missed: not,
        }));
        if let Some((first, last)) = missed {
            self.fetch(
                cx,
                ticket,
                request,
                (first, last),
                taken,
                LatencyComponents::default(),
            )?;
        } else if self
            .requests
            .get_mut(ticket)
            .is_some_and(|open| !open.failed)
        {
            self.figures.reads_hit += 1;
        }
        self.part_done(cx, ticket, None);
        Ok(())
    }
    /// Looks up a page in flash, and reports the access to the replacement policy.
    #[inline]
    fn look_up(&mut self, page: u64) -> Result<Option<Lpn>, B> {
        let residents = self.residents();
        let Some((copy, held)) = residents.find(page) else {
            return Ok(None);
        };
        self.figures.written_hits += u64::from(residents.is_written_copy(copy));
        if held == Held::Leaving {
            self.figures.resident_hits += 1;
            return Ok(Some(copy));
        }
        let accessed = self.access(page, false)?;
        match accessed.found {
            Found::Resident => self.figures.resident_hits += 1,
            Found::Suspected => self.figures.suspected_hits += 1,
            Found::Nothing => {}
        }
        Ok(Some(accessed.copy))
    }
    #[inline]
    fn hit(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        ticket: Ticket,
        request: &Request,
        page: u64,
        copy: Lpn,
    ) -> Result<(), B> {
        self.check_flash(page, copy)?;
        self.expect(ticket, 1, false);
        let dirty = self.residents().is_dirty_copy(copy);
        let sub = Sub {
            request: self.at_copy(Op::Read, copy, request.stream, cx.now),
            task: Task::Hit {
                ticket,
                page,
                copy,
                dirty,
            },
        };
        self.ask_flash(cx, sub)
    }
    /// Makes a request wait for a page that another request is fetching.
    fn join(&mut self, now: Time, ticket: Ticket, page: u64, fetch: u32) -> Result<(), B> {
        self.figures.joined += 1;
        if let Some(fetch) = self.fetches.get_mut(fetch) {
            fetch.waiters.push((ticket, page, now));
            if !fetch.is_there {
                fetch.asked.push(page);
            }
            self.expect(ticket, 1, false);
        }
        self.use_page(page)
    }
    /// Reports another access to a page to the replacement policy, if the cache holds the page.
    fn use_page(&mut self, page: u64) -> Result<(), B> {
        let held = self.residents().find(page);
        if held.is_some_and(|(_, held)| held != Held::Leaving) {
            self.access(page, false)?;
        }
        Ok(())
    }
    /// Fetches missed pages from the backing store, in one read from the first to the last page.
    /// `earlier` is the time that the request has already spent on these pages.
    pub(super) fn fetch(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        ticket: Ticket,
        request: &Request,
        (first, last): (u64, u64),
        pages: Vec<u64>,
        earlier: LatencyComponents,
    ) -> Result<(), B> {
        let taken = pages.clone();
        let fetch = self.fetches.add(Fetch {
            owner: Some(ticket),
            pages,
            asked: Vec::new(),
            is_there: false,
            waiters: Vec::new(),
            left: 0,
            earlier,
            parts: LatencyComponents::default(),
        });
        self.fetching
            .extend(taken.into_iter().map(|page| (page, fetch)));
        self.expect(ticket, 1, true);
        let bytes = u64::from(self.plan.page_bytes);
        let end = ((last + 1) * bytes).min(self.backing.user_bytes());
        let sub = Sub {
            request: Request {
                offset: first * bytes,
                bytes: end - first * bytes,
                arrival: cx.now,
                ..*request
            },
            task: Task::Fetch { fetch },
        };
        self.ask_below(cx, sub)
    }
    /// Handles the data of a fetch. Its pages are admitted one after the other, as if each page
    /// were a separate miss (Xia 2017, algorithm 1).
    pub(super) fn arrived(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        request: &Request,
        number: u32,
        parts: &LatencyComponents,
    ) -> Result<(), B> {
        let takes_programs = self.takes_programs();
        let Some(fetch) = self.fetches.get_mut(number) else {
            return Ok(());
        };
        fetch.is_there = true;
        fetch.parts = fetch.earlier;
        fetch.parts.add(parts);
        let parts = fetch.parts;
        if !takes_programs {
            fetch.pages.clear();
            self.fetching.retain(|_, fetch| *fetch != number);
        }
        let (fills, asked) = (fetch.pages.clone(), std::mem::take(&mut fetch.asked));
        fetch.left = fills.len() as u32;
        let (owner, waiters) = if self.plan.reply == Reply::Data {
            (fetch.owner.take(), std::mem::take(&mut fetch.waiters))
        } else {
            (None, Vec::new())
        };
        let over = fills.is_empty();
        for page in fills {
            self.evict_group(page, false);
            let copy = self.access(page, false)?.copy;
            self.figures.fills += 1;
            if let Some(versions) = &mut self.versions {
                let version = versions.below(page);
                versions.put(copy, version);
            }
            let sub = Sub {
                request: self.at_copy(Op::Write, copy, request.stream, cx.now),
                task: Task::Fill {
                    fetch: number,
                    page,
                    copy,
                    waited: None,
                },
            };
            self.make_room(cx, sub, None, false)?;
        }
        for page in asked {
            self.use_page(page)?;
        }
        self.let_go(cx, request.stream)?;
        if let Some(ticket) = owner {
            self.part_done(cx, ticket, Some((cx.now - parts.total(), &parts)));
        }
        self.answer(cx, waiters);
        if over {
            self.end_fetch(cx, number, &LatencyComponents::default());
        }
        Ok(())
    }
    /// Handles a completed fill. After the last fill, ends the fetch.
    pub(super) fn filled(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        number: u32,
        parts: &LatencyComponents,
    ) {
        let Some(fetch) = self.fetches.get_mut(number) else {
            return;
        };
        fetch.left -= 1;
        if fetch.left == 0 {
            self.end_fetch(cx, number, parts);
        }
    }
    /// Checks that the version of a page served from flash is the latest, if the run is verified.
    pub(super) fn check_flash(&mut self, page: u64, copy: Lpn) -> Result<(), B> {
        match &mut self.versions {
            Some(versions) => versions.check_flash(page, copy).map_err(Into::into),
            None => Ok(()),
        }
    }
    /// Checks that the version of a page served from the backing store is the latest, if the run is
    /// verified.
    pub(super) fn check_below(&mut self, page: u64) -> Result<(), B> {
        if self.is_lost(page) {
            return Ok(());
        }
        match &mut self.versions {
            Some(versions) => versions.check_below(page).map_err(Into::into),
            None => Ok(()),
        }
    }
    fn end_fetch(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        number: u32,
        fill: &LatencyComponents,
    ) {
        let Some(mut fetch) = self.fetches.remove(number) else {
            return;
        };
        for page in &fetch.pages {
            if self.fetching.get(page) == Some(&number) {
                self.fetching.remove(page);
            }
        }
        if let Some(ticket) = fetch.owner {
            fetch.parts.add(fill);
            let begun = cx.now - fetch.parts.total();
            self.part_done(cx, ticket, Some((begun, &fetch.parts)));
        }
        self.answer(cx, fetch.waiters);
    }
    /// Completes the reads that waited for a page of a fetch.
    fn answer(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        waiters: Vec<(Ticket, u64, Time)>,
    ) {
        for (ticket, _, since) in waiters {
            let parts = LatencyComponents {
                disk_queue: cx.now - since,
                ..LatencyComponents::default()
            };
            self.part_done(cx, ticket, Some((since, &parts)));
        }
    }
    /// Discards the copy of a programmed page if the page was evicted while its program was in
    /// progress.
    pub(super) fn drop_unowned(&mut self, page: u64, copy: Lpn) {
        let (residents, pages) = self.flash.mapping_mut().parts();
        let owned = |page| residents.find(page).is_some_and(|(at, _)| at == copy);
        if !owned(page) && !owned(residents.page_of(copy)) {
            pages.discard(copy);
        }
    }
}
