//! Hard disk model: processes requests from arrival to completion.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use wordline_block::{
    BlockDevice, Busy, Completion, LatencyComponents, Op, PowerCut, Request, Ticket,
};
use wordline_kernel::{BusyTime, Context, Probe, Since, Time};

use crate::buffer::{Ahead, Held, ReadAhead, Room, Segment, Segments, WriteHit};
use crate::error::DiskError;
use crate::event::{Event, Observation, Purpose, Work};
use crate::extent::{Extent, SECTOR_BYTES};
use crate::model::{Access, Mechanism};
use crate::plan::Plan;
use crate::queue::{Operation, Order, Queue, Waiting};
use crate::stats::DiskStats;

/// Sectors per page. Lost data is counted in pages.
const SECTORS_PER_PAGE: u64 = 8;

/// Maximum number of requests that are retried after a destage. The limit bounds the cost of a long
/// queue.
const MAX_RETRIED: usize = 256;

/// Outstanding request.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Command {
    request: Request,
    /// Time of arrival.
    since: Time,
    /// Latency components, set once they are known.
    parts: LatencyComponents,
}

impl Command {
    fn extent(&self) -> Extent {
        Extent::of_bytes(self.request.offset, self.request.bytes)
    }
}

/// Hard disk.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Disk {
    plan: Plan,
    /// Outstanding requests by ticket; `None` for a vacant ticket.
    held: Vec<Option<Command>>,
    vacant: Vec<Ticket>,
    /// Requests and destages that wait for the mechanism.
    queue: Queue,
    /// Operations that have entered the queue so far. Count.
    came: u64,
    /// Accesses in progress; at most one if requests are served one at a time. Count.
    at_work: u32,
    /// Extent of the latest access.
    served: Extent,
    /// Whether the latest command was a write.
    behind_write: bool,
    segments: Segments,
    ahead: Option<Ahead>,
    /// Time at which the bus has transferred the data of the requests that the buffer serves
    /// without the mechanism.
    bus_free: Time,
    /// Interval in which the access in progress uses the bus.
    bus_used: (Time, Time),
    /// Requests that wait for a destage, in order of arrival.
    stalled: VecDeque<Ticket>,
    /// Flushes that wait. Each has the number of the last write that it waits for, which is the
    /// latest write in the buffer when the flush arrived.
    flushes: Vec<(Ticket, u64)>,
    busy: Time,
    /// Start of the current busy interval of the mechanism; [`Time::MAX`] if it is idle.
    busy_since: Time,
    completions: Vec<Completion>,
    /// Counts and times since power-on.
    figures: DiskStats,
    /// Counts and times at the start of the measurement.
    before: DiskStats,
    /// Time up to which `held_time` has been integrated.
    counted: Time,
}

type Instant<'a, 'c, P> = &'a mut Context<'c, Event, P>;

impl Disk {
    /// Creates an idle disk.
    pub fn new(plan: &Plan) -> Self {
        Self {
            held: Vec::new(),
            vacant: Vec::new(),
            queue: Queue::new(&plan.queue),
            came: 0,
            at_work: 0,
            served: Extent::default(),
            behind_write: false,
            segments: Segments::new(plan.buffer.segments),
            ahead: None,
            bus_free: Time::ZERO,
            bus_used: (Time::ZERO, Time::ZERO),
            stalled: VecDeque::new(),
            flushes: Vec::new(),
            busy: Time::ZERO,
            busy_since: Time::MAX,
            completions: Vec::new(),
            figures: DiskStats::default(),
            before: DiskStats::default(),
            counted: Time::ZERO,
            plan: plan.clone(),
        }
    }
    /// Returns the counts and times since the start of the measurement.
    pub fn figures(&self) -> DiskStats {
        self.figures.since(&self.before)
    }
    /// Returns the number of outstanding requests.
    pub fn outstanding(&self) -> u32 {
        (self.held.len() - self.vacant.len()) as u32
    }

    fn issue(&mut self, held: Command) -> Ticket {
        if let Some(ticket) = self.vacant.pop() {
            self.held[ticket as usize] = Some(held);
            return ticket;
        }
        self.held.push(Some(held));
        self.held.len() as Ticket - 1
    }
    /// Updates the queue-depth integral up to `now`.
    fn count_held(&mut self, now: Time) {
        let held = u128::from(self.outstanding());
        self.figures.held_time += held * u128::from(now.since(self.counted).0);
        self.counted = now;
    }

    /// Serves a request from the buffer, or queues it for the mechanism.
    fn begin(&mut self, cx: Instant<'_, '_, impl Probe<Observation>>, ticket: Ticket) {
        let Some(held) = self.held[ticket as usize] else {
            return;
        };
        let extent = held.extent();
        match held.request.op {
            Op::Trim => cx.schedule(cx.now, Event::Complete(ticket)),
            Op::Flush if self.segments.dirty() == 0 => {
                cx.schedule(cx.now, Event::Complete(ticket));
            }
            Op::Flush => self.flushes.push((ticket, self.figures.writes_buffered)),
            Op::Read => {
                self.catch_up(cx.now);
                let written = self.plan.buffer.read_written;
                match self.segments.look_up(extent, written) {
                    Held::All => {
                        self.figures.reads_buffered += 1;
                        self.serve_buffered(cx, ticket, true);
                    }
                    Held::Unwritten => self.stalled.push_back(ticket),
                    Held::Nothing => {
                        self.enqueue(Operation::Request(ticket), extent, false, cx.now);
                    }
                }
            }
            Op::Write => self.begin_write(cx, ticket, &held.request, extent),
        }
    }
    fn begin_write(
        &mut self,
        cx: Instant<'_, '_, impl Probe<Observation>>,
        ticket: Ticket,
        request: &Request,
        extent: Extent,
    ) {
        let buffer = &self.plan.buffer;
        let cached =
            buffer.write_cache && !request.fua && extent.sectors <= buffer.segment_sectors.into();
        if !cached {
            if self.segments.has_dirty(extent) {
                self.stalled.push_back(ticket);
            } else {
                self.enqueue(Operation::Request(ticket), extent, true, cx.now);
            }
            return;
        }
        let (place, hit) = match self.segments.room(extent, buffer) {
            Room::Joins(place) => (place, true),
            Room::New(place) => (place, buffer.write_hit == WriteHit::Buffered),
            Room::None => {
                self.stalled.push_back(ticket);
                return;
            }
        };
        self.figures.writes_buffered += 1;
        self.stop_reading(cx.now);
        let done = self.serve_buffered(cx, ticket, hit);
        let write = self.figures.writes_buffered;
        self.segments.put(extent, place, done, write);
        let segment = self.segments.get_mut(place);
        if !segment.queued && !segment.destaging {
            segment.queued = true;
            let extent = segment.extent();
            self.enqueue(Operation::Destage(place as u32), extent, true, cx.now);
        }
    }
    /// Transfers the data of a request over the bus, without the mechanism. Returns the end of the
    /// transfer, before the completion time of the controller.
    fn serve_buffered(
        &mut self,
        cx: Instant<'_, '_, impl Probe<Observation>>,
        ticket: Ticket,
        hit: bool,
    ) -> Time {
        let Some(mut held) = self.held[ticket as usize] else {
            return cx.now;
        };
        let purpose = purpose(&held.request);
        let write = purpose == Purpose::Write;
        let times = &self.plan.overhead;
        let overhead = times.command(self.behind_write, write, hit);
        let (bus, completion) = (times.bus(held.extent().sectors), times.completion(write));
        let begun = self.transfer_begins(cx.now, overhead, bus + completion);
        let done = begun + bus + completion;
        held.parts = LatencyComponents {
            host_queue: held.since - held.request.arrival,
            disk_queue: begun - overhead - held.since,
            disk_overhead: overhead + completion,
            transfer: bus,
            ..LatencyComponents::default()
        };
        self.held[ticket as usize] = Some(held);
        let overhead = overhead + completion;
        self.figures.overhead += overhead;
        self.bus_free = done;
        self.behind_write = write;
        let work = Work {
            purpose,
            extent: held.extent(),
            overhead,
            access: Access {
                transfer: bus,
                ..Access::default()
            },
        };
        cx.observe_fragment(|| Observation::Buffered {
            from: done - work.total(),
            work,
        });
        cx.schedule(done, Event::Complete(ticket));
        done - completion
    }
    /// Returns the start of a bus use of duration `length` by a command that arrives now.
    fn transfer_begins(&self, now: Time, overhead: Time, length: Time) -> Time {
        let (from, to) = self.bus_used;
        if self.plan.overhead.bus_held {
            return self.bus_free.max(to).max(now) + overhead;
        }
        let begun = self.bus_free.max(now + overhead);
        if begun < to && begun + length > from {
            return to;
        }
        begun
    }
    fn enqueue(&mut self, operation: Operation, extent: Extent, write: bool, now: Time) {
        self.came += 1;
        self.queue.push(Waiting {
            operation,
            extent,
            write,
            since: now,
            place: self.came,
        });
    }

    /// Adds the sectors that have passed under the head until `now` to the segment of the
    /// read-ahead.
    fn catch_up(&mut self, now: Time) {
        let Some(mut ahead) = self.ahead else {
            return;
        };
        let (sectors, at) =
            self.plan
                .model
                .pass(ahead.since, now, ahead.from, ahead.until - ahead.from);
        let most = u64::from(self.plan.buffer.segment_sectors);
        let segment = self.segments.get_mut(ahead.segment);
        segment.end += sectors;
        segment.start = segment.start.max(segment.end.saturating_sub(most));
        self.figures.sectors_ahead += sectors;
        (ahead.from, ahead.since) = (ahead.from + sectors, at);
        self.ahead = (ahead.from < ahead.until).then_some(ahead);
    }
    /// Ends the read-ahead because the mechanism is needed.
    fn stop_reading(&mut self, now: Time) {
        self.catch_up(now);
        self.ahead = None;
    }

    /// Starts waiting operations while the mechanism is free.
    fn advance(&mut self, cx: Instant<'_, '_, impl Probe<Observation>>) {
        while (self.at_work == 0 || !self.plan.serial)
            && !(self.plan.overhead.bus_held && self.bus_free.max(self.bus_used.1) > cx.now)
            && let Some(next) = self.next(cx.now)
        {
            if self.at_work == 0 {
                self.busy_since = cx.now;
            }
            self.at_work += 1;
            match next.operation {
                Operation::Request(ticket) if next.write => self.write(cx, ticket),
                Operation::Request(ticket) => self.read(cx, ticket),
                Operation::Destage(segment) => self.destage(cx, segment),
            }
        }
    }
    fn next(&mut self, now: Time) -> Option<Waiting> {
        let model = &self.plan.model;
        let cost = |one: &Waiting| model.positioning(now, one.extent, one.write);
        self.queue.next(now, self.served, cost)
    }
    fn access(&mut self, now: Time, extent: Extent, write: bool, ready: Time) -> Access {
        let access = self.plan.model.access(now, extent, write, ready);
        self.figures.accessed(&access);
        access
    }
    fn command(&mut self, write: bool) -> Time {
        let overhead = self.plan.overhead.command(self.behind_write, write, false);
        self.figures.overhead += overhead;
        self.behind_write = write;
        overhead
    }
    fn read(&mut self, cx: Instant<'_, '_, impl Probe<Observation>>, ticket: Ticket) {
        let Some(held) = self.held[ticket as usize] else {
            return;
        };
        let extent = held.extent();
        let overhead = self.command(false);
        let begun = cx.now + overhead;
        let mut lead = 0;
        let mut rest = extent;
        let (access, over) = if let Some((since, rest)) = self.reading_on(cx.now, extent) {
            let access = self.access(since, rest, false, Time::ZERO);
            let over = (since + access.total()).max(begun);
            let transfer = over - begun;
            let access = Access {
                transfer,
                ..Access::default()
            };
            (access, over)
        } else {
            if let Some(end) = self.segments.begins(extent) {
                rest = Extent {
                    lbn: end,
                    sectors: extent.end() - end,
                };
            } else if self.plan.buffer.read_lead {
                lead = self.plan.model.lead(begun, extent);
            }
            let access = self.access(begun, rest, false, Time::ZERO);
            (access, begun + access.total())
        };
        let tail = self.tail(begun, extent, rest, &access);
        self.settle(cx, ticket, held, overhead, &access, tail);
        self.served = extent;
        self.keep(extent, lead, over);
    }
    /// Returns the bus time that remains after an access that reads `rest`, the part of the extent
    /// that is not in the buffer. Data in the buffer is transferred during the access.
    fn tail(&self, begun: Time, extent: Extent, rest: Extent, access: &Access) -> Time {
        let times = &self.plan.overhead;
        let behind = times.tail(rest.sectors, access.wrapped, access.transfer);
        behind.max((begun + times.bus(extent.sectors)).since(begun + access.total()))
    }
    /// Returns `None` unless the head is reading ahead into the extent of a read. Otherwise returns
    /// the time at which the head reached the first sector that is not in the segment, and the rest
    /// of the extent.
    fn reading_on(&mut self, now: Time, extent: Extent) -> Option<(Time, Extent)> {
        self.catch_up(now);
        let ahead = self.ahead?;
        let segment = self.segments.get(ahead.segment);
        let within =
            (segment.start..=segment.end).contains(&extent.lbn) && extent.end() > segment.end;
        within.then(|| {
            let rest = Extent {
                lbn: segment.end,
                sectors: extent.end() - segment.end,
            };
            (ahead.since, rest)
        })
    }
    /// Keeps the sectors of a read in the buffer, with the `lead` sectors before it that passed
    /// under the head. Starts the read-ahead at `since` if it is configured.
    fn keep(&mut self, extent: Extent, lead: u64, since: Time) {
        let buffer = &self.plan.buffer;
        let waits =
            buffer.read_ahead == ReadAhead::Sequential && !self.segments.goes_on(extent.lbn);
        let most = if waits { 0 } else { buffer.ahead() };
        self.ahead = None;
        let with_lead = Extent {
            lbn: extent.lbn - lead,
            sectors: extent.sectors + lead,
        };
        let Some(segment) = self.segments.take(with_lead, buffer.segment_sectors) else {
            return;
        };
        let mut until = (extent.end() + most).min(self.plan.capacity_bytes / SECTOR_BYTES);
        if buffer.read_ahead == ReadAhead::Track && extent.end() < until {
            let first = self.segments.get(segment).start;
            until = until.min(self.end_of_track(first, extent.end()));
        }
        if extent.end() < until {
            self.ahead = Some(Ahead {
                segment,
                since,
                from: extent.end(),
                until,
            });
        }
    }
    /// Returns the end, exclusive, of a read-ahead by tracks from sector `from`, into a segment
    /// that starts at `first`.
    fn end_of_track(&self, first: u64, from: u64) -> u64 {
        let Some((before, left)) = self.plan.model.track(from) else {
            return u64::MAX;
        };
        let end = from + left;
        if first >= from - before {
            return end;
        }
        let next = self.plan.model.track(end).map_or(0, |(_, left)| left);
        end + next
    }
    fn write(&mut self, cx: Instant<'_, '_, impl Probe<Observation>>, ticket: Ticket) {
        let Some(held) = self.held[ticket as usize] else {
            return;
        };
        let extent = held.extent();
        self.stop_reading(cx.now);
        let overhead = self.command(true);
        let begun = cx.now + overhead;
        let ready = begun + self.plan.overhead.bus(extent.sectors);
        let access = self.access(begun, extent, true, ready);
        self.segments.invalidate(extent);
        self.settle(cx, ticket, held, overhead, &access, Time::ZERO);
        self.served = extent;
    }
    /// Sets the times of a request that the mechanism serves, and schedules its completion. The
    /// data of the request uses the bus for `tail` after the access.
    fn settle(
        &mut self,
        cx: Instant<'_, '_, impl Probe<Observation>>,
        ticket: Ticket,
        held: Command,
        overhead: Time,
        access: &Access,
        tail: Time,
    ) {
        let purpose = purpose(&held.request);
        let times = &self.plan.overhead;
        let completion = times.completion(purpose == Purpose::Write);
        let bus_held = times.bus_held;
        self.figures.overhead += completion;
        let parts = LatencyComponents {
            host_queue: held.since - held.request.arrival,
            disk_queue: cx.now - held.since,
            disk_overhead: overhead + completion,
            seek: access.seek,
            rotation: access.rotation,
            transfer: access.transfer + tail,
            ..LatencyComponents::default()
        };
        self.held[ticket as usize] = Some(Command { parts, ..held });
        let work = Work {
            purpose,
            extent: held.extent(),
            overhead,
            access: *access,
        };
        cx.observe_fragment(|| Observation::Begun(work));
        let over = cx.now + work.total();
        let tail = tail + completion;
        self.bus_free = self.bus_free.max(self.bus_used.1);
        if bus_held {
            self.bus_used = (cx.now, over + tail);
        } else if purpose == Purpose::Read {
            self.bus_used = (over - access.transfer, over + tail);
        }
        if tail == Time::ZERO {
            cx.schedule(over, Event::Served(ticket));
            return;
        }
        cx.schedule(over, Event::Accessed);
        cx.schedule(over + tail, Event::Complete(ticket));
    }
    fn destage(&mut self, cx: Instant<'_, '_, impl Probe<Observation>>, number: u32) {
        self.stop_reading(cx.now);
        let segment = self.segments.get_mut(number as usize);
        (segment.queued, segment.destaging) = (false, true);
        segment.next = self.figures.writes_buffered + 1;
        let (extent, ready) = (segment.extent(), segment.ready);
        self.figures.destages += 1;
        let access = self.access(cx.now, extent, true, ready);
        self.served = extent;
        let work = Work {
            purpose: Purpose::Destage,
            extent,
            overhead: Time::ZERO,
            access,
        };
        cx.observe_fragment(|| Observation::Begun(work));
        cx.schedule(cx.now + work.total(), Event::Destaged(number));
    }
    /// Handles the end of a destage. The data of the segment is on the platters, except for data
    /// that joined after the start of the destage.
    fn destaged(&mut self, cx: Instant<'_, '_, impl Probe<Observation>>, number: u32) {
        let written = self.served.end();
        let segment = self.segments.get_mut(number as usize);
        segment.destaging = false;
        if segment.end > written {
            (segment.start, segment.queued) = (written, true);
            segment.oldest = segment.next;
            let extent = segment.extent();
            self.enqueue(Operation::Destage(number), extent, true, cx.now);
        } else if self.plan.buffer.read_written {
            segment.dirty = false;
        } else {
            *segment = Segment::default();
        }
        if !self.flushes.is_empty() {
            let written = self
                .segments
                .first_unwritten()
                .map_or(u64::MAX, |oldest| oldest - 1);
            let over = self.flushes.extract_if(.., |(_, last)| *last <= written);
            for (ticket, _) in over {
                cx.schedule(cx.now, Event::Complete(ticket));
            }
        }
        self.retry(cx);
    }
    /// Retries the first requests that wait for a destage, in order of arrival.
    fn retry(&mut self, cx: Instant<'_, '_, impl Probe<Observation>>) {
        let first = self.stalled.len().min(MAX_RETRIED);
        let behind = self.stalled.split_off(first);
        let waiting = std::mem::replace(&mut self.stalled, behind);
        let behind = self.stalled.len();
        for ticket in waiting {
            self.begin(cx, ticket);
        }
        let again = self.stalled.len() - behind;
        self.stalled.rotate_right(again);
    }
    fn complete(&mut self, cx: Instant<'_, '_, impl Probe<Observation>>, ticket: Ticket) {
        self.count_held(cx.now);
        let Some(held) = self.held[ticket as usize].take() else {
            return;
        };
        self.vacant.push(ticket);
        let Command {
            request,
            since,
            mut parts,
        } = held;
        if matches!(request.op, Op::Trim | Op::Flush) {
            parts.host_queue = since - request.arrival;
            parts.disk_queue = cx.now - since;
        }
        self.completions.push(Completion {
            ticket,
            stream: request.stream,
            parts,
            failed: false,
        });
        cx.observe(Observation::Request { request, parts });
    }
    fn free(&mut self, cx: Instant<'_, '_, impl Probe<Observation>>) {
        self.at_work -= 1;
        if self.at_work == 0 {
            self.busy += cx.now - self.busy_since;
            self.busy_since = Time::MAX;
        }
        cx.observe_fragment(|| Observation::Over);
    }
}

/// Returns the purpose of a read or write request.
fn purpose(request: &Request) -> Purpose {
    if request.op == Op::Write {
        Purpose::Write
    } else {
        Purpose::Read
    }
}

impl BlockDevice for Disk {
    type Event = Event;
    type Observation = Observation;
    type Error = DiskError;

    fn user_bytes(&self) -> u64 {
        self.plan.capacity_bytes
    }
    fn can_accept(&self, _stream: u32) -> bool {
        self.outstanding() < self.plan.queue_depth
    }
    fn submit(
        &mut self,
        cx: &mut Context<'_, Event, impl Probe<Observation>>,
        request: Request,
    ) -> Result<Ticket, DiskError> {
        request.fit(self.plan.capacity_bytes)?;
        self.count_held(cx.now);
        let ticket = self.issue(Command {
            request,
            since: cx.now,
            parts: LatencyComponents::default(),
        });
        let held = self.outstanding();
        self.figures.came(&request);
        self.figures.held_most = self.figures.held_most.max(held);
        cx.observe(Observation::Admitted { held });
        self.begin(cx, ticket);
        self.advance(cx);
        Ok(ticket)
    }
    fn handle(
        &mut self,
        cx: &mut Context<'_, Event, impl Probe<Observation>>,
        event: Event,
    ) -> Result<(), DiskError> {
        match event {
            Event::Served(ticket) => {
                self.free(cx);
                self.complete(cx, ticket);
            }
            Event::Accessed => self.free(cx),
            Event::Complete(ticket) => self.complete(cx, ticket),
            Event::Destaged(segment) => {
                self.free(cx);
                self.destaged(cx, segment);
            }
        }
        self.advance(cx);
        Ok(())
    }
    fn begin_measuring(&mut self, now: Time) {
        self.count_held(now);
        self.figures.held_most = self.outstanding();
        self.before = self.figures;
    }
    fn completions(&mut self) -> impl Iterator<Item = Completion> + '_ {
        self.completions.drain(..)
    }
    fn has_completions(&self) -> bool {
        !self.completions.is_empty()
    }
    /// Returns the number of pages whose data is only in the write cache. Requests in progress are
    /// lost in a power cut, too: an incomplete write may or may not have reached its sectors.
    fn volatile_pages(&self, offset: u64, bytes: u64) -> u32 {
        let extent = Extent::of_bytes(offset, bytes);
        let pages = self
            .segments
            .dirty_sectors_of(extent)
            .div_ceil(SECTORS_PER_PAGE);
        u32::try_from(pages).unwrap_or(u32::MAX)
    }
    fn cut_power(
        &mut self,
        now: Time,
        probe: &mut impl Probe<Observation>,
    ) -> Result<PowerCut, DiskError> {
        self.count_held(now);
        let lost = self.segments.dirty_sectors().div_ceil(SECTORS_PER_PAGE);
        let cut = PowerCut {
            requests_lost: self.outstanding(),
            pages_lost: u32::try_from(lost).unwrap_or(u32::MAX),
            ..PowerCut::default()
        };
        for (held, ticket) in std::mem::take(&mut self.held).into_iter().zip(0..) {
            let Some(held) = held else { continue };
            self.completions.push(Completion {
                ticket,
                stream: held.request.stream,
                parts: LatencyComponents::default(),
                failed: false,
            });
        }
        self.vacant.clear();
        self.queue = Queue::new(&self.plan.queue);
        self.stalled.clear();
        self.flushes.clear();
        self.segments.clear();
        self.ahead = None;
        (self.bus_free, self.bus_used) = (now, (now, now));
        self.at_work = 0;
        self.busy = Time::ZERO;
        self.busy_since = Time::MAX;
        probe.observe(now, Observation::PowerCut(cut));
        Ok(cut)
    }
    /// Appends the busy time of the mechanism, which is reported as a die.
    fn busy(&self, busy: &mut Busy) {
        let since = (self.at_work > 0).then_some(self.busy_since);
        busy.dies.push(BusyTime::new(self.busy, since));
    }
}
