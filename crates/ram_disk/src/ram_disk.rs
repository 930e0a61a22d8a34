//! RAM disk: requests, from submission to completion.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use wordline_block::{
    BlockDevice, Busy, Completion, LatencyComponents, Op, PowerCut, Request, RequestObservation,
    Ticket,
};
use wordline_kernel::{BusyTime, Context, Probe, Time};

use crate::error::RamDiskError;
use crate::event::{Event, Observation};
use crate::plan::Plan;
use crate::stats::RamDiskStats;

/// Request in the disk.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Held {
    request: Request,
    /// Time of submission.
    since: Time,
    /// Start of service; not meaningful while the request waits.
    begun: Time,
}

/// RAM disk.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RamDisk {
    plan: Plan,
    /// Requests by ticket; `None` for a vacant ticket.
    held: Vec<Option<Held>>,
    vacant: Vec<Ticket>,
    /// Requests that wait for a channel, in order of arrival.
    waiting: VecDeque<Ticket>,
    busy_channels: u32,
    /// Time in which at least one channel was busy, up to the last idle period.
    busy: Time,
    /// Start of the current busy period; [`Time::MAX`] if no channel is busy.
    busy_since: Time,
    completions: Vec<Completion>,
    stats: RamDiskStats,
    /// Time up to which the sums of the statistics extend.
    counted: Time,
}

impl RamDisk {
    /// Creates an idle RAM disk.
    pub fn new(plan: &Plan) -> Self {
        Self {
            plan: plan.clone(),
            held: Vec::new(),
            vacant: Vec::new(),
            waiting: VecDeque::new(),
            busy_channels: 0,
            busy: Time::ZERO,
            busy_since: Time::MAX,
            completions: Vec::new(),
            stats: RamDiskStats::default(),
            counted: Time::ZERO,
        }
    }
    /// Returns the statistics since the start of the measurement, up to the last event.
    pub fn figures(&self) -> RamDiskStats {
        self.stats.clone()
    }
    /// Returns the number of requests in the disk.
    pub fn outstanding(&self) -> u32 {
        (self.held.len() - self.vacant.len()) as u32
    }

    /// Extends the sums of the statistics to `now`.
    fn count(&mut self, now: Time) {
        let elapsed = u128::from(now.since(self.counted).ps());
        self.stats.held_time += u128::from(self.outstanding()) * elapsed;
        self.stats.busy_time += u128::from(self.busy_channels) * elapsed;
        self.counted = now;
    }
    fn issue(&mut self, held: Held) -> Ticket {
        if let Some(ticket) = self.vacant.pop() {
            self.held[ticket as usize] = Some(held);
            return ticket;
        }
        self.held.push(Some(held));
        self.held.len() as Ticket - 1
    }
    /// Serves waiting requests while a channel is idle.
    fn advance(&mut self, cx: &mut Context<'_, Event, impl Probe<Observation>>) {
        while self.busy_channels < self.plan.channels
            && let Some(ticket) = self.waiting.pop_front()
        {
            let Some(held) = &mut self.held[ticket as usize] else {
                continue;
            };
            held.begun = cx.now;
            let (overhead, copy) = self.plan.service(held.request.op, held.request.bytes);
            if self.busy_channels == 0 {
                self.busy_since = cx.now;
            }
            self.busy_channels += 1;
            cx.schedule(cx.now + overhead + copy, Event(ticket));
        }
    }
    fn release_channel(&mut self, now: Time) {
        self.busy_channels -= 1;
        if self.busy_channels == 0 {
            self.busy += now - self.busy_since;
            self.busy_since = Time::MAX;
        }
    }
    fn complete(&mut self, cx: &mut Context<'_, Event, impl Probe<Observation>>, ticket: Ticket) {
        let Some(held) = self.held[ticket as usize].take() else {
            return;
        };
        self.vacant.push(ticket);
        let request = held.request;
        let (disk_overhead, transfer) = self.plan.service(request.op, request.bytes);
        let parts = LatencyComponents {
            host_queue: held.since - request.arrival,
            disk_queue: held.begun - held.since,
            disk_overhead,
            transfer,
            ..LatencyComponents::default()
        };
        self.stats.completed(&request, cx.now - held.since);
        self.completions.push(Completion {
            ticket,
            stream: request.stream,
            parts,
            failed: false,
        });
        cx.observe(Observation(RequestObservation::Request { request, parts }));
    }
}

impl BlockDevice for RamDisk {
    type Event = Event;
    type Observation = Observation;
    type Error = RamDiskError;

    fn user_bytes(&self) -> u64 {
        self.plan.capacity_bytes
    }
    fn can_accept(&self, _stream: u32) -> bool {
        true
    }
    fn submit(
        &mut self,
        cx: &mut Context<'_, Event, impl Probe<Observation>>,
        request: Request,
    ) -> Result<Ticket, RamDiskError> {
        request.fit(self.plan.capacity_bytes)?;
        self.count(cx.now);
        let ticket = self.issue(Held {
            request,
            since: cx.now,
            begun: cx.now,
        });
        let held = self.outstanding();
        self.stats.held_most = self.stats.held_most.max(held);
        cx.observe(Observation(RequestObservation::Admitted { held }));
        if request.op == Op::Flush {
            // All completed writes are durable.
            cx.schedule(cx.now, Event(ticket));
        } else {
            self.waiting.push_back(ticket);
            self.advance(cx);
        }
        Ok(ticket)
    }
    fn handle(
        &mut self,
        cx: &mut Context<'_, Event, impl Probe<Observation>>,
        Event(ticket): Event,
    ) -> Result<(), RamDiskError> {
        self.count(cx.now);
        let held = self.held[ticket as usize];
        if held.is_some_and(|held| held.request.op != Op::Flush) {
            self.release_channel(cx.now);
        }
        self.complete(cx, ticket);
        self.advance(cx);
        Ok(())
    }
    fn begin_measuring(&mut self, now: Time) {
        self.stats = RamDiskStats {
            held_most: self.outstanding(),
            ..RamDiskStats::default()
        };
        self.counted = now;
    }
    fn completions(&mut self) -> impl Iterator<Item = Completion> + '_ {
        self.completions.drain(..)
    }
    fn has_completions(&self) -> bool {
        !self.completions.is_empty()
    }
    /// Loses the requests in the disk. A battery preserves the data.
    fn cut_power(
        &mut self,
        now: Time,
        probe: &mut impl Probe<Observation>,
    ) -> Result<PowerCut, RamDiskError> {
        self.count(now);
        let cut = PowerCut {
            requests_lost: self.outstanding(),
            ..PowerCut::default()
        };
        let lost = std::mem::take(&mut self.held).into_iter().zip(0..);
        self.completions.extend(lost.filter_map(|(held, ticket)| {
            Some(Completion {
                ticket,
                stream: held?.request.stream,
                parts: LatencyComponents::default(),
                failed: false,
            })
        }));
        self.vacant.clear();
        self.waiting.clear();
        self.busy_channels = 0;
        self.busy = Time::ZERO;
        self.busy_since = Time::MAX;
        probe.observe(now, Observation(RequestObservation::PowerCut(cut)));
        Ok(cut)
    }
    fn volatile_pages(&self, _offset: u64, _bytes: u64) -> u32 {
        0
    }
    /// Reports the disk as one die, which is busy while any channel is.
    fn busy(&self, busy: &mut Busy) {
        let since = (self.busy_channels > 0).then_some(self.busy_since);
        busy.dies.push(BusyTime::new(self.busy, since));
    }
}
