//! Host requests, from arrival to completion.

use serde::{Deserialize, Serialize};
use wordline_block::{BlockDevice, Completion, LatencyComponents, Op, Request, Ticket};
use wordline_ftl::Lpn;
use wordline_kernel::{Probe, Time};

use super::admission::Filter;
use super::config::Reply;
use super::event::Observation;
use super::records::{Demands, Next};
use super::tier::{Sub, Task};
use super::{Cached, Instant, Result};

/// Outstanding request.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Open {
    pub request: Request,
    /// Number of outstanding operations of the request.
    left: u32,
    /// Whether the request itself has caused an operation on the backing store.
    pub missed: bool,
    /// Whether a page of the request could not be read or written.
    pub failed: bool,
    /// Latency components of the last completed operation.
    parts: LatencyComponents,
    /// Completion time of the last completed operation.
    done: Time,
}

impl Open {
    pub fn new(request: Request) -> Self {
        Self {
            request,
            left: 0,
            missed: false,
            failed: false,
            parts: LatencyComponents::default(),
            done: Time::ZERO,
        }
    }
}

impl<B: BlockDevice> Cached<B> {
    pub(super) fn pages_of(&self, request: &Request) -> std::ops::Range<u64> {
        let bytes = u64::from(self.plan.page_bytes);
        request.offset / bytes..(request.offset + request.bytes).div_ceil(bytes)
    }
    /// Returns a request of `stream` for the whole copy of a page in flash, issued at `now`.
    pub(super) fn at_copy(&self, op: Op, copy: Lpn, stream: u32, now: Time) -> Request {
        let bytes = u64::from(self.plan.page_bytes);
        Request {
            stream,
            op,
            fua: false,
            offset: u64::from(copy.0) * bytes,
            bytes,
            arrival: now,
        }
    }
    /// Starts a request, or blocks it. A request is blocked while another request writes one of its
    /// pages. A write or TRIM is also blocked while one of its pages is being destaged.
    #[inline]
    pub(super) fn begin(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        ticket: Ticket,
        request: &Request,
    ) -> Result<(), B> {
        if self.conflicts(request) {
            self.blocked.push_back(ticket);
            return Ok(());
        }
        match request.op {
            Op::Read => self.read(cx, ticket, request),
            Op::Write | Op::Trim => self.write(cx, ticket, request),
            Op::Flush => self.pass_below(cx, ticket, request),
        }
    }
    #[inline]
    fn conflicts(&self, request: &Request) -> bool {
        let mut pages = self.pages_of(request);
        let destaging = request.op != Op::Read && !self.destages.is_empty();
        if self.writing.is_empty() && !destaging {
            return false;
        }
        pages.any(|page| {
            self.writing.contains_key(&page) || (destaging && self.residents().is_destaging(page))
        })
    }
    /// Tries to start the blocked requests again.
    pub(super) fn unblock(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
    ) -> Result<(), B> {
        for _ in 0..self.blocked.len() {
            let Some(ticket) = self.blocked.pop_front() else {
                break;
            };
            let request = self.requests.get_mut(ticket).map(|open| open.request);
            if let Some(request) = request {
                self.begin(cx, ticket, &request)?;
            }
        }
        Ok(())
    }
    /// Adds `parts` outstanding operations to a request. `missed` marks the request as one that has
    /// itself caused an operation on the backing store; that operation need not be among those
    /// added.
    pub(super) fn expect(&mut self, ticket: Ticket, parts: u32, missed: bool) {
        if let Some(open) = self.requests.get_mut(ticket) {
            open.left += parts;
            open.missed |= missed;
        }
    }
    /// Handles a completed operation of a tier, depending on its task.
    #[inline]
    pub(super) fn sub_done(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        sub: &Sub,
        parts: &LatencyComponents,
    ) -> Result<(), B> {
        let begun = sub.request.arrival;
        match sub.task {
            Task::Hit { ticket, .. } => self.part_done(cx, ticket, Some((begun, parts))),
            Task::Fetch { fetch } => self.arrived(cx, &sub.request, fetch, parts)?,
            Task::Fill {
                fetch,
                page,
                copy,
                waited,
            } => {
                self.drop_unowned(page, copy);
                let parts = self.programmed(waited, parts);
                self.filled(cx, fetch, &parts);
            }
            Task::Write {
                ticket,
                page,
                copy,
                waited,
                ..
            } => {
                if let Some(versions) = &mut self.versions {
                    versions.written_in_flash(page, copy, self.plan.journal.is_some());
                }
                let (residents, _) = self.flash.mapping_mut().parts();
                residents.programmed(page, copy);
                self.regain(ticket, page);
                let parts = self.programmed(waited, parts);
                self.write_over(cx, page)?;
                self.part_done(cx, ticket, Some((cx.now - parts.total(), &parts)));
                self.unblock(cx)?;
            }
            Task::Rest { waiting } | Task::RestInFlash { waiting, .. } => {
                self.rest_read(cx, waiting, parts)?;
            }
            Task::Victim { destage, .. } => self.victim_read(cx, destage, parts)?,
            Task::Destage {
                destage,
                first,
                pages,
            } => self.destage_done(cx, &sub.request, destage, (first, pages), parts)?,
            Task::Record { copy } => self.recorded(cx, copy, begun, parts)?,
            Task::Update { ticket, page, copy } => {
                self.drop_unowned(page, copy);
                self.write_over(cx, page)?;
                self.part_done(cx, ticket, Some((begun, parts)));
                self.unblock(cx)?;
            }
            Task::Below { .. } => {
                let due = self.due_of(&sub.request);
                let held = self.durability(cx.now, &sub.request);
                if let Some(versions) = &mut self.versions {
                    for (page, _) in &due {
                        versions.reached_below(*page, held);
                    }
                }
                if !self.waits_for_records(cx, due, Next::Below(*sub), parts)? {
                    self.below_done(cx, sub, parts)?;
                }
            }
        }
        Ok(())
    }
    /// Handles a write, TRIM or flush that has completed on the backing store and whose records, if
    /// any, are programmed.
    pub(super) fn below_done(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        sub: &Sub,
        parts: &LatencyComponents,
    ) -> Result<(), B> {
        let Task::Below { ticket } = sub.task else {
            return Ok(());
        };
        self.written_below(cx, &sub.request)?;
        self.part_done(cx, ticket, Some((sub.request.arrival, parts)));
        self.unblock(cx)
    }
    /// Handles the completion of one operation of a request. `part` gives the operation's start and
    /// its latency components from then on; `None` if it took no time. After the last operation,
    /// completes the request. If the cache replies only after GC, a request that programs flash is
    /// held until GC ends.
    #[inline]
    pub(super) fn part_done(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        ticket: Ticket,
        part: Option<(Time, &LatencyComponents)>,
    ) {
        let Some(open) = self.requests.get_mut(ticket) else {
            return;
        };
        open.left -= 1;
        if let Some((begun, parts)) = part {
            open.parts = *parts;
            open.parts.host_queue += begun - open.request.arrival;
            open.done = cx.now;
        }
        if open.left > 0 {
            return;
        }
        let programs = match open.request.op {
            Op::Read => open.missed,
            Op::Write => self.plan.mode.keeps_writes(),
            Op::Trim | Op::Flush => false,
        };
        if programs && self.plan.reply == Reply::Collection && self.is_collecting() {
            self.held.push(ticket);
            return;
        }
        self.complete(cx, ticket);
    }
    /// Completes the requests that waited for the end of GC.
    pub(super) fn release(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
    ) {
        for ticket in std::mem::take(&mut self.held) {
            if let Some(open) = self.requests.get_mut(ticket) {
                open.parts.gc += cx.now - open.done;
            }
            self.complete(cx, ticket);
        }
    }
    #[inline]
    fn complete(
        &mut self,
        cx: Instant<'_, '_, B, impl Probe<Observation<B::Observation>>>,
        ticket: Ticket,
    ) {
        let Some(&mut Open {
            request,
            ref parts,
            missed,
            failed,
            ..
        }) = self.requests.get_mut(ticket)
        else {
            return;
        };
        debug_assert_eq!(
            parts.total(),
            cx.now - request.arrival,
            "the latency components add up to the response time"
        );
        self.completions.push(Completion {
            ticket,
            stream: request.stream,
            parts: *parts,
            failed,
        });
        cx.observe(Observation::Request {
            request,
            parts: *parts,
            hit: !missed,
        });
        cx.observe_fragment(|| Observation::Held(self.holding()));
        self.requests.free(ticket);
    }
    /// Drops all requests in progress and the state kept in memory after a power failure.
    pub(super) fn forget(&mut self) {
        for (ticket, open) in self.requests.drain() {
            self.completions.push(Completion {
                ticket,
                stream: open.request.stream,
                parts: LatencyComponents::default(),
                failed: false,
            });
        }
        self.fetches.drain().for_each(drop);
        self.waiting.drain().for_each(drop);
        self.destages.drain().for_each(drop);
        self.stalled.clear();
        self.unfilled.clear();
        self.latest_destage = None;
        self.in_background = 0;
        self.is_cleaning = false;
        self.fetching.clear();
        self.writing.clear();
        self.blocked.clear();
        self.held.clear();
        self.in_flash.forget();
        self.filter = Filter::new(&self.plan.admission, self.plan.capacity as usize);
        self.demands = Demands::default();
        self.division.forget(&self.plan);
    }
}
