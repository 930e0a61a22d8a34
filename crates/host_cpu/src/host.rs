//! Host: passes requests from the workers to the store, and completions back to the workers.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wordline_block::{
    BlockDevice, Busy, Completion, GcObservation, LatencyComponents, PowerCut, Request, Ticket,
};
use wordline_kernel::memory::Table;
use wordline_kernel::{Context, EventQueue, Plus, Probe, Since, Time};

use crate::architecture::{Architecture, bridge, flash_software};
use crate::config::Config;
use crate::cpu::{Cpu, FLASH_SOFTWARE, Job, Purpose, Thread, worker};
use crate::event::{Event, Observation};
use crate::mapping::{Map, MapState};
use crate::paging::Next;
use crate::ready::Ready;
use crate::stats::{Cause, HostStats, Loads, Memory, Shares};

/// Maximum number of requests that the host holds. Further requests wait outside the host.
const MAX_HELD: u32 = 1 << 16;

/// Marks a ticket of the store without a host request.
const NONE: Ticket = Ticket::MAX;

/// A request that the host holds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Open {
    request: Request,
    /// Time of submission to the host.
    since: Time,
    /// Latency components so far.
    parts: LatencyComponents,
    failed: bool,
}

/// CPU times of a worker per request.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct WorkerTimes {
    submit: Time,
    locked: Time,
    complete: Time,
}

/// A host in front of a store: one worker thread per stream, cores, a lock, and the bridge or the
/// flash software.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "S: Serialize + DeserializeOwned")]
pub struct Host<S: BlockDevice> {
    store: S,
    times: WorkerTimes,
    cpu: Cpu,
    bridge: Option<bridge::State>,
    software: Option<flash_software::State>,
    /// Held requests by ticket; `None` if the ticket is vacant.
    open: Vec<Option<Open>>,
    vacant: Vec<Ticket>,
    ready: Ready,
    /// Host tickets, by ticket of the store; [`NONE`] if unused.
    wholes: Vec<Ticket>,
    completions: Vec<Completion>,
    /// Statistics since the start of the run.
    figures: HostStats,
    /// Statistics at the start of measuring.
    before: HostStats,
    /// Time up to which `held_time` is integrated.
    counted: Time,
    /// Events that the store has scheduled, until they are moved to the owner's queue.
    #[serde(skip)]
    scheduled: EventQueue<S::Event>,
}

/// Probe that forwards observations of the store to the host's probe, and counts GC steps.
struct Within<'a, P> {
    steps: u32,
    probe: &'a mut P,
}

impl<O: GcObservation, P: Probe<Observation<O>>> Probe<O> for Within<'_, P> {
    const WANTS_FRAGMENTS: bool = P::WANTS_FRAGMENTS;
    #[inline(always)]
    fn wants_fragments(&self) -> bool {
        self.probe.wants_fragments()
    }
    fn observe(&mut self, now: Time, heard: O) {
        self.steps += heard.collection_steps();
        self.probe.observe(now, Observation::Store(heard));
    }
}

impl<S: BlockDevice<Observation: GcObservation>> Host<S> {
    /// Creates an idle host in front of a store.
    pub fn new(config: &Config, store: S) -> Self {
        let ns = Time::from_ns;
        let (mut bridge, mut software) = (None, None);
        match &config.architecture {
            Architecture::Direct(_) => {}
            Architecture::Bridge(policy) => bridge = Some(bridge::State::new(policy)),
            Architecture::FlashSoftware(policy) => {
                software = Some(flash_software::State::new(policy, store.user_bytes()));
            }
        }
        Self {
            store,
            times: WorkerTimes {
                submit: ns(config.submit_ns),
                locked: ns(config.locked_ns),
                complete: ns(config.complete_ns),
            },
            cpu: Cpu::new(config.cores),
            bridge,
            software,
            open: Vec::new(),
            vacant: Vec::new(),
            ready: Ready::default(),
            wholes: Vec::new(),
            completions: Vec::new(),
            figures: HostStats::default(),
            before: HostStats::default(),
            counted: Time::ZERO,
            scheduled: EventQueue::default(),
        }
    }
    /// Returns the memory estimate of the simulated map in front of a store of `user_bytes` bytes,
    /// or `None` without flash software. Preconditioning maps the share `filled` of the store.
    pub fn memory(config: &Config, user_bytes: u64, filled: f64) -> Option<Table> {
        let Architecture::FlashSoftware(policy) = &config.architecture else {
            return None;
        };
        let units = user_bytes.div_ceil(policy.unit_bytes);
        Some(MapState::simulated(&policy.mapping, units, filled))
    }
    /// Returns the store behind the host.
    pub fn store(&self) -> &S {
        &self.store
    }
    /// Returns the statistics since the start of measuring.
    pub fn figures(&self) -> HostStats {
        self.figures.since(&self.before)
    }
    /// Maps a byte range that was written sequentially before the run. Does nothing without flash
    /// software.
    pub fn filled(&mut self, offset: u64, bytes: u64) {
        if let Some(software) = &mut self.software
            && bytes > 0
        {
            let units = software.units(offset, bytes);
            software.map.fill(units);
        }
        self.count_memory();
    }

    fn reserved(&self) -> u64 {
        let software = self.software.as_ref();
        software.map_or(0, |software| software.reserved)
    }
    fn held(&self) -> u32 {
        (self.open.len() - self.vacant.len()) as u32
    }
    /// Integrates the number of held requests up to `now`.
    fn count_held(&mut self, now: Time) {
        let held = u128::from(self.held());
        self.figures.held_time += held * u128::from(now.since(self.counted).0);
        self.counted = now;
    }
    fn count_memory(&mut self) {
        let software = self.software.as_ref();
        let memory = software.map_or_else(Memory::default, |software| software.map.memory());
        self.figures.most_bytes = self.figures.most_bytes.max(memory.bytes);
        self.figures.memory = memory;
        self.figures.loads = software.map_or_else(Loads::default, |software| software.map.loads());
    }
    fn issue(&mut self, open: Open) -> Ticket {
        if let Some(ticket) = self.vacant.pop() {
            self.open[ticket as usize] = Some(open);
            return ticket;
        }
        self.open.push(Some(open));
        self.open.len() as Ticket - 1
    }
    fn open(&mut self, ticket: Ticket) -> &mut Open {
        match &mut self.open[ticket as usize] {
            Some(open) => open,
            None => unreachable!("the host holds the request"),
        }
    }

    /// Applies a request to the map, if there is one, and returns the job that submits the request.
    fn submission(&mut self, now: Time, ticket: Ticket, request: &Request) -> Job {
        let mut free = Shares::of(Cause::Worker, self.times.submit);
        let mut locked = Shares::of(Cause::Worker, self.times.locked);
        if let Some(software) = &mut self.software {
            let steps = software.serve(ticket, request);
            self.figures.lookups += steps.lookups;
            self.figures.updates += steps.updates;
            let price = software.price(steps);
            let under = if software.is_locked {
                &mut locked
            } else {
                &mut free
            };
            *under = under.plus(price);
        }
        Job::new(now, Purpose::Submit(ticket), free, locked)
    }
    /// Adds a job for completed GC steps to the thread of the flash software.
    fn collected(&mut self, now: Time, steps: u32) {
        let Some(software) = self.software.as_ref().filter(|_| steps > 0) else {
            return;
        };
        self.figures.collection_steps += u64::from(steps);
        let (work, none) = (software.collect(steps), Shares::default());
        let (free, locked) = if software.is_locked {
            (none, work)
        } else {
            (work, none)
        };
        let job = Job::new(now, Purpose::Collect, free, locked);
        self.cpu.add(now, FLASH_SOFTWARE, job);
    }

    /// Calls the store with its own context. Forwards the events that the store schedules, and
    /// charges the GC steps that it reports.
    fn inside<T, P: Probe<Observation<S::Observation>>>(
        &mut self,
        cx: &mut Context<'_, Event<S::Event>, P>,
        act: impl FnOnce(&mut S, &mut Context<'_, S::Event, Within<'_, P>>) -> Result<T, S::Error>,
    ) -> Result<T, S::Error> {
        let mut within = Within {
            steps: 0,
            probe: cx.probe,
        };
        let inner = &mut Context::new(cx.now, &mut self.scheduled, &mut within);
        let done = act(&mut self.store, inner)?;
        let steps = within.steps;
        while let Some((at, event)) = self.scheduled.pop() {
            cx.queue.schedule(at, Event::Store(event));
        }
        self.collected(cx.now, steps);
        Ok(done)
    }
    /// Continues the requests whose store requests have completed: each one accesses its next map
    /// page or its data, or is completed by its worker.
    fn settle(&mut self, now: Time) {
        if !self.store.has_completions() {
            return;
        }
        let done: Vec<_> = self.store.completions().collect();
        for done in done {
            let ticket = std::mem::replace(&mut self.wholes[done.ticket as usize], NONE);
            let open = self.open(ticket);
            open.parts.add(&done.parts);
            open.failed |= done.failed;
            if self.is_at_map(ticket) {
                self.page_on(now, ticket);
                continue;
            }
            let open = self.open(ticket);
            let stream = open.request.stream;
            if let Some(bridge) = &mut self.bridge {
                bridge.release();
            }
            let work = Shares::of(Cause::Worker, self.times.complete);
            let job = Job::new(now, Purpose::Complete(ticket), work, Shares::default());
            self.cpu.add(now, worker(stream), job);
        }
    }
    /// Returns `true` if a request has not accessed all its pages of the map yet.
    fn is_at_map(&self, ticket: Ticket) -> bool {
        let software = self.software.as_ref();
        software.is_some_and(|software| software.paging.has(ticket))
    }
    /// Returns the next store request of a host request: for a page of the map, or for the data.
    fn below(&mut self, ticket: Ticket) -> Request {
        let request = self.open(ticket).request;
        let Some(software) = &self.software else {
            return request;
        };
        let asked = software.paging.ask(ticket, &request);
        asked.unwrap_or(Request {
            offset: request.offset + software.reserved,
            ..request
        })
    }
    /// Advances a request through its pages of the map, and then to its data. Also advances the
    /// requests that waited for those pages.
    fn page_on(&mut self, now: Time, ticket: Ticket) {
        let mut next = Some(ticket);
        while let Some(ticket) = next {
            let Some(software) = &mut self.software else {
                return self.wait_for_store(now, ticket);
            };
            let went = software.paging.next(now, ticket);
            next = software.paging.freed.pop_front();
            if let Next::Asks(waited) | Next::Goes(waited) = went {
                self.open(ticket).parts.host_side_wait += waited;
                self.wait_for_store(now, ticket);
            }
        }
    }
    fn wait_for_store(&mut self, now: Time, ticket: Ticket) {
        let stream = self.open(ticket).request.stream;
        self.ready.push(stream, ticket, now);
    }
    /// Submits ready requests to the store in the order in which they became ready. A refused
    /// stream is not tried again in the same call: accepting another request never makes the store
    /// accept that stream ([`BlockDevice::can_accept`]).
    fn feed<P: Probe<Observation<S::Observation>>>(
        &mut self,
        cx: &mut Context<'_, Event<S::Event>, P>,
    ) -> Result<(), S::Error> {
        let mut from = 0;
        while let Some((place, stream)) = self.ready.head_from(from) {
            from = place + 1;
            if !self.store.can_accept(stream) {
                continue;
            }
            let Some((ticket, since)) = self.ready.pop(stream) else {
                continue;
            };
            let request = Request {
                arrival: since,
                ..self.below(ticket)
            };
            let own = self.inside(cx, |store, cx| store.submit(cx, request))? as usize;
            if self.wholes.len() <= own {
                self.wholes.resize(own + 1, NONE);
            }
            self.wholes[own] = ticket;
            self.settle(cx.now);
        }
        Ok(())
    }
    /// Passes the request of a finished job to its next stage: bridge, map, store, or completion.
    fn follow<P: Probe<Observation<S::Observation>>>(
        &mut self,
        cx: &mut Context<'_, Event<S::Event>, P>,
        job: &Job,
    ) {
        let (Purpose::Submit(ticket) | Purpose::Complete(ticket)) = job.purpose else {
            return;
        };
        let open = self.open(ticket);
        open.parts.host_side_wait += job.waited;
        open.parts.host_side += job.work();
        let request = open.request;
        match (job.purpose, &mut self.bridge) {
            (Purpose::Complete(_), _) => self.complete(cx, ticket),
            (_, Some(bridge)) => bridge.add(cx.now, ticket, &request),
            (_, None) => self.page_on(cx.now, ticket),
        }
    }
    fn complete<P: Probe<Observation<S::Observation>>>(
        &mut self,
        cx: &mut Context<'_, Event<S::Event>, P>,
        ticket: Ticket,
    ) {
        self.count_held(cx.now);
        let Some(open) = self.open[ticket as usize].take() else {
            return;
        };
        self.vacant.push(ticket);
        let Open { request, parts, .. } = open;
        debug_assert_eq!(
            parts.total(),
            cx.now - request.arrival,
            "the latency components add up to the response time"
        );
        self.figures.completed += 1;
        self.figures.response += u128::from((cx.now - open.since).0);
        self.completions.push(Completion {
            ticket,
            stream: request.stream,
            parts,
            failed: open.failed,
        });
        cx.observe(Observation::Request { request, parts });
    }
    /// Performs all work that is possible at this instant, until only events are left.
    fn advance<P: Probe<Observation<S::Observation>>>(
        &mut self,
        cx: &mut Context<'_, Event<S::Event>, P>,
    ) -> Result<(), S::Error> {
        loop {
            for (until, thread) in self.cpu.started.drain(..) {
                cx.schedule(until, Event::Thread(thread));
            }
            if let Some(job) = self.cpu.done.pop_front() {
                self.follow(cx, &job);
                continue;
            }
            let bridge = self.bridge.as_mut();
            if let Some(until) = bridge.and_then(|bridge| bridge.start(cx.now)) {
                cx.schedule(until, Event::Converted);
            }
            self.feed(cx)?;
            if self.cpu.started.is_empty() && self.cpu.done.is_empty() {
                return Ok(());
            }
        }
    }
    fn thread_ended(&mut self, now: Time, thread: Thread) {
        self.cpu.ended(now, thread, &mut self.figures);
    }
    fn converted(&mut self, now: Time) {
        let Some(crossed) = self.bridge.as_mut().and_then(bridge::State::converted) else {
            return;
        };
        self.figures.bridge += crossed.work;
        let open = self.open(crossed.ticket);
        open.parts.host_side_wait += crossed.waited;
        open.parts.host_side += crossed.work;
        self.wait_for_store(now, crossed.ticket);
    }
}

impl<S: BlockDevice<Observation: GcObservation>> BlockDevice for Host<S> {
    type Event = Event<S::Event>;
    type Observation = Observation<S::Observation>;
    type Error = S::Error;

    fn user_bytes(&self) -> u64 {
        self.store.user_bytes() - self.reserved()
    }
    fn begin_measuring(&mut self, now: Time) {
        self.store.begin_measuring(now);
        self.count_held(now);
        self.figures.held_most = self.held();
        self.figures.most_bytes = self.figures.memory.bytes;
        self.before = self.figures;
    }
    fn can_accept(&self, _stream: u32) -> bool {
        self.held() < MAX_HELD
    }
    fn submit(
        &mut self,
        cx: &mut Context<'_, Self::Event, impl Probe<Self::Observation>>,
        request: Request,
    ) -> Result<Ticket, Self::Error> {
        self.count_held(cx.now);
        let parts = LatencyComponents {
            host_queue: cx.now - request.arrival,
            ..LatencyComponents::default()
        };
        let ticket = self.issue(Open {
            request,
            since: cx.now,
            parts,
            failed: false,
        });
        let held = self.held();
        self.figures.held_most = self.figures.held_most.max(held);
        cx.observe(Observation::Admitted { held });
        let job = self.submission(cx.now, ticket, &request);
        self.count_memory();
        self.cpu.add(cx.now, worker(request.stream), job);
        self.advance(cx)?;
        Ok(ticket)
    }
    fn handle(
        &mut self,
        cx: &mut Context<'_, Self::Event, impl Probe<Self::Observation>>,
        event: Self::Event,
    ) -> Result<(), Self::Error> {
        match event {
            Event::Store(event) => {
                self.inside(cx, |store, cx| store.handle(cx, event))?;
                self.settle(cx.now);
            }
            Event::Thread(thread) => self.thread_ended(cx.now, thread),
            Event::Converted => self.converted(cx.now),
        }
        self.advance(cx)
    }
    fn completions(&mut self) -> impl Iterator<Item = Completion> + '_ {
        self.completions.drain(..)
    }
    fn has_completions(&self) -> bool {
        !self.completions.is_empty()
    }
    /// Cuts the power of the host together with the store: all held requests are lost.
    fn cut_power(
        &mut self,
        now: Time,
        probe: &mut impl Probe<Self::Observation>,
    ) -> Result<PowerCut, Self::Error> {
        let mut within = Within { steps: 0, probe };
        let cut = self.store.cut_power(now, &mut within)?;
        for lost in self.store.completions() {
            self.wholes[lost.ticket as usize] = NONE;
        }
        let wholes = (0..).zip(std::mem::take(&mut self.wholes));
        let held: Vec<Ticket> = wholes
            .filter(|(_, whole)| *whole != NONE)
            .map(|(own, _)| own)
            .collect();
        self.store.cancel(&held);
        self.count_held(now);
        let open = std::mem::take(&mut self.open);
        self.vacant.clear();
        self.ready.clear();
        self.cpu.stop();
        if let Some(software) = &mut self.software {
            software.stop();
        }
        if let Some(bridge) = &mut self.bridge {
            bridge.stop();
        }
        let lost = (0..).zip(open).filter_map(|(ticket, open)| {
            open.map(|open| Completion {
                ticket,
                stream: open.request.stream,
                parts: LatencyComponents::default(),
                failed: false,
            })
        });
        let before = self.completions.len();
        self.completions.extend(lost);
        Ok(PowerCut {
            requests_lost: (self.completions.len() - before) as u32,
            ..cut
        })
    }
    fn volatile_pages(&self, offset: u64, bytes: u64) -> u32 {
        self.store.volatile_pages(offset + self.reserved(), bytes)
    }
    #[allow(clippy::redundant_closure_for_method_calls)] // a path would fix one lifetime
    fn resume(
        &mut self,
        cx: &mut Context<'_, Self::Event, impl Probe<Self::Observation>>,
    ) -> Result<(), Self::Error> {
        // No requests were held during recovery, so that time is left out of the integral.
        self.counted = cx.now;
        self.inside(cx, |store, cx| store.resume(cx))?;
        self.settle(cx.now);
        self.advance(cx)
    }
    fn slow_die(&mut self, die: u32, slowness: u32) -> bool {
        self.store.slow_die(die, slowness)
    }
    fn die_backlog(&self, times: &mut Vec<Time>) {
        self.store.die_backlog(times);
    }
    fn busy(&self, busy: &mut Busy) {
        self.store.busy(busy);
    }
}
