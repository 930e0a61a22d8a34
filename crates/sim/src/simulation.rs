//! From a plan and a source of requests to results.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use thiserror::Error;
use wordline_block::{BlockDevice, Busy, Event, Failure, Op, Request};
use wordline_cache::replacement::foreign::Maker;
use wordline_device::precondition::Preconditioned;
use wordline_device::{DeviceError, Ssd};
use wordline_ftl::Map;
use wordline_kernel::{Digest, EventQueue, Stream, Time};
use wordline_store::{Array, ArrayError};
use wordline_workload::{Source, WorkloadError};

use crate::audience::{Audience, Drawn, Several};
use crate::chip_load::ChipLoads;
use crate::devices::{self, Device};
use wordline_config::Plan;
use wordline_config::plan::{self, Replay};
use wordline_memory::{Limits, MemoryError};

use crate::memory::{self, estimate};
use crate::outcome::{self, Asked, Contest, InputCounts, Outcome, Speed};
use crate::record::{Lanes, Recorder};
use crate::results::Results;
use crate::timeline::{Timeline, TimelineOptions};

/// What to do beside simulating.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether a row for each request is kept, in memory.
    pub requests: bool,
    /// Whether every read is checked against a shadow store.
    pub verify: bool,
    /// Requests to simulate at most.
    pub max_requests: Option<u64>,
    /// The power fails at random, once in so many requests on average.
    pub power_cut_every: Option<u64>,
    /// The timeline to write, if any.
    pub timeline: Option<TimelineOptions>,
    /// Whose policies choose who leaves the DRAM buffers, in place of the plan's.
    pub buffer_policy: Option<Maker>,
}

impl Options {
    /// What of them costs memory in a run of `plan`.
    fn memory(&self, plan: &Plan) -> memory::Asked {
        memory::Asked {
            rows: self.requests.then(|| {
                let most = self.max_requests.unwrap_or(u64::MAX);
                memory::generated(plan).map_or(self.max_requests.unwrap_or(0), |all| all.min(most))
            }),
            verify: self.verify,
            power_cuts: self.power_cut_every.is_some(),
        }
    }
}

/// A run that could not start. What goes wrong later ends the run and stands in its results.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SimulationError {
    /// The source cannot be read.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The source has no time stamps.
    #[error(
        "the trace has no time stamps, so it cannot be replayed open loop; set {0}.mode.closed-loop.queue_depth"
    )]
    Untimed(String),
    /// The device could not be brought into its state.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A member of the array could not be brought into its state.
    #[error(transparent)]
    Array(#[from] ArrayError<DeviceError>),
    /// Nothing to simulate.
    #[error("{0}")]
    Empty(String),
    /// The timeline cannot be written.
    #[error("{0}")]
    Timeline(String),
    /// It does not fit into memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl SimulationError {
    /// Whether the user ended it.
    pub fn is_interruption(&self) -> bool {
        match self {
            Self::Workload(error) => error.is_interruption(),
            Self::Device(error) => error.is_interruption(),
            Self::Array(error) => error.is_interruption(),
            _ => false,
        }
    }
}

/// What a run is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Filling the device, without timing.
    Precondition,
    /// Serving requests.
    Run,
    /// Serving the requests of one stream alone, to see what the others cost it.
    Alone,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// What it is at.
    pub phase: Phase,
    /// Simulated time.
    pub now: Time,
    /// Requests admitted, or pages written while preconditioning.
    pub done: u64,
    /// Share of the input consumed, if known.
    pub fraction: Option<f64>,
}

/// Hears how far a run has come, about ten times a second; returns whether to go on.
pub type Watch<'a> = &'a mut dyn FnMut(&Progress) -> bool;

/// Time between two looks at the clock, in events and requests.
const STRIDE: u32 = 4096;
const BETWEEN_REPORTS: Duration = Duration::from_millis(100);

/// Calls the watch from time to time.
struct Watcher<'a> {
    watch: Watch<'a>,
    countdown: u32,
    last: Instant,
}

impl<'a> Watcher<'a> {
    fn new(watch: Watch<'a>) -> Self {
        Self {
            watch,
            countdown: STRIDE,
            last: Instant::now(),
        }
    }
    /// Whether to report, after so many events or requests more.
    #[inline]
    fn is_due(&mut self, further: u32) -> bool {
        self.countdown = self.countdown.saturating_sub(further);
        if self.countdown > 0 {
            return false;
        }
        self.countdown = STRIDE;
        self.last.elapsed() >= BETWEEN_REPORTS
    }
    fn report(&mut self, progress: &Progress) -> bool {
        self.last = Instant::now();
        (self.watch)(progress)
    }
}

/// Simulated time ends here, after 103 days: no event that is scheduled before it can pass the end of
/// the clock, and every time fits a signed number in a table.
const CLOCK_END: Time = Time((1 << 63) - (1 << 58));

const CLOCK_ENDED: &str = "simulated time has reached its end after 103 days; shorten the pauses of the trace with \
                           --time-gaps cut=1s, or all of it with replay.mode.open-loop.time_scale";

/// How the run ended before its time.
#[derive(Debug, Error)]
enum Stop {
    #[error("{CLOCK_ENDED}")]
    Clock,
    #[error("interrupted")]
    Interrupted,
    #[error(transparent)]
    Workload(WorkloadError),
    /// The device, or the array: what it said.
    #[error("{0}")]
    Store(String),
}

impl Stop {
    /// What became of a source.
    fn of_source(error: WorkloadError) -> Self {
        if error.is_interruption() {
            return Self::Interrupted;
        }
        Self::Workload(error)
    }
    /// What became of a device, or of the array.
    fn of(error: &impl Failure) -> Self {
        if error.is_interruption() {
            return Self::Interrupted;
        }
        Self::Store(error.to_string())
    }
}

/// The requests of a stream, and when they are issued.
pub struct Input<'a> {
    /// The requests.
    pub source: &'a mut dyn Source,
    /// When they are issued.
    pub replay: Replay,
}

/// Where the requests of a stream are taken from, one ahead.
struct Intake<'a> {
    source: &'a mut dyn Source,
    stream: u32,
    /// Requests issued, in the order of [`Op`].
    issued: [u64; 4],
    durable_writes: u64,
    lost: u64,
    flushes_ignored: u64,
    first_arrival: Option<Time>,
    /// When the source has the first and the last of the requests that were issued, times scaled.
    recorded: Option<(Time, Time)>,
    open: bool,
    /// Whether flushes are issued; without a buffer they change nothing.
    flushes: bool,
    ahead: Option<Request>,
    /// What follows it, as far as the device wants to hear of it.
    beyond: VecDeque<Request>,
    replay: Replay,
    /// Closed loop: when the next requests are issued.
    tokens: VecDeque<Time>,
    error: Option<WorkloadError>,
}

impl<'a> Intake<'a> {
    fn new(input: Input<'a>, stream: u32, flushes: bool) -> Self {
        let Input { source, replay } = input;
        let tokens = match replay {
            Replay::OpenLoop { .. } => VecDeque::new(),
            Replay::ClosedLoop { queue_depth } => vec![Time::ZERO; queue_depth as usize].into(),
        };
        Self {
            source,
            stream,
            issued: [0; 4],
            durable_writes: 0,
            lost: 0,
            flushes_ignored: 0,
            first_arrival: None,
            recorded: None,
            open: true,
            flushes,
            ahead: None,
            beyond: VecDeque::new(),
            replay,
            tokens,
            error: None,
        }
    }

    /// When the host issues the next request; `None` if there is none, or none before another
    /// completes. After the end or an error there is never one.
    #[inline(always)]
    fn next_arrival(&mut self) -> Option<Time> {
        self.fill();
        let arrival = self.ahead.as_ref()?.arrival;
        match self.replay {
            Replay::OpenLoop { .. } => Some(arrival),
            Replay::ClosedLoop { .. } => self.tokens.front().copied(),
        }
    }
    /// The next request, which is issued at `arrival`.
    #[inline(always)]
    fn next(&self, arrival: Time) -> Option<Request> {
        self.ahead.map(|ahead| Request { arrival, ..ahead })
    }
    /// Whether there is another request, be it that it waits for one before it.
    #[inline]
    fn has_more(&mut self) -> bool {
        self.fill();
        self.ahead.is_some()
    }
    #[inline]
    fn take(&mut self, request: &Request) {
        if let Some(ahead) = self.ahead.take() {
            self.recorded
                .get_or_insert((ahead.arrival, ahead.arrival))
                .1 = ahead.arrival;
        }
        self.tokens.pop_front();
        self.first_arrival.get_or_insert(request.arrival);
        self.issued[request.op as usize] += 1;
        self.durable_writes += u64::from(request.fua && request.op == Op::Write);
    }
    fn counts(&self) -> InputCounts {
        let [reads, writes, trims, flushes] = self.issued;
        InputCounts {
            reads,
            writes,
            durable_writes: self.durable_writes,
            trims,
            flushes,
            lost: self.lost,
            flushes_ignored: self.flushes_ignored,
        }
    }
    /// Whether it should be issued by time stamps that it does not have.
    fn is_untimed(&self) -> bool {
        matches!(self.replay, Replay::OpenLoop { .. }) && !self.source.timed()
    }
    /// Whether the next request is issued when another completes.
    #[inline]
    fn waits(&self) -> bool {
        matches!(self.replay, Replay::ClosedLoop { .. }) && self.tokens.is_empty()
    }
    /// A request has completed.
    #[inline]
    fn completed(&mut self, now: Time) {
        if let Replay::ClosedLoop { .. } = self.replay {
            self.tokens.push_back(now);
        }
    }
    fn asked(&self) -> Asked {
        Asked {
            replay: self.replay,
            counts: self.counts(),
            first_arrival: self.first_arrival,
            recorded: self.recorded.filter(|_| self.source.timed()),
        }
    }
    /// No further request is issued.
    fn close(&mut self) {
        self.open = false;
        self.ahead = None;
        self.beyond.clear();
    }
    /// Adds up to `most` of the requests that come next to `upcoming`; none whose time is not known.
    fn look_ahead(&mut self, most: usize, upcoming: &mut Vec<Request>) {
        if let Replay::ClosedLoop { .. } = self.replay {
            return;
        }
        self.fill();
        while self.beyond.len() + 1 < most && self.open {
            match self.fetch() {
                Some(request) => self.beyond.push_back(request),
                None => break,
            }
        }
        upcoming.extend(self.ahead.iter().chain(&self.beyond).take(most));
    }

    #[inline]
    fn fill(&mut self) {
        if self.ahead.is_none() {
            self.advance();
        }
    }
    #[inline(never)]
    fn advance(&mut self) {
        if !self.beyond.is_empty() {
            self.ahead = self.beyond.pop_front();
        } else if self.open {
            self.ahead = self.fetch();
        }
    }
    #[inline(always)]
    fn fetch(&mut self) -> Option<Request> {
        loop {
            let next = match self.source.next_request() {
                Ok(Some(next)) => next,
                Ok(None) => {
                    self.open = false;
                    return None;
                }
                Err(error) => {
                    self.error = Some(error);
                    self.open = false;
                    return None;
                }
            };
            let op = match next.op {
                wordline_workload::Op::Read => Op::Read,
                wordline_workload::Op::Write => Op::Write,
                wordline_workload::Op::Trim => Op::Trim,
                wordline_workload::Op::Flush if self.flushes => Op::Flush,
                wordline_workload::Op::Flush => {
                    self.flushes_ignored += 1;
                    continue;
                }
            };
            let arrival = match self.replay {
                Replay::OpenLoop { time_scale } if time_scale != 1.0 => {
                    Time((next.arrival.0 as f64 * time_scale).round() as u64)
                }
                _ => next.arrival,
            };
            return Some(Request {
                stream: self.stream,
                op,
                fua: next.fua,
                offset: next.offset,
                bytes: next.bytes,
                arrival,
            });
        }
    }
}

/// When the contest of several streams begins and ends, with the bytes served until then.
#[derive(Debug, Default)]
struct Standing {
    /// Which streams have requests; empty if there is one stream only.
    asking: Vec<bool>,
    begun: usize,
    from: Option<(Time, Vec<u64>)>,
    until: Option<(Time, Vec<u64>)>,
}

impl Standing {
    fn begin(&mut self, now: Time, recorder: &Recorder) {
        self.begun += 1;
        let all = self.asking.iter().filter(|&&asks| asks).count();
        if self.begun == all && self.until.is_none() {
            self.from = Some((now, recorder.bytes()));
        }
    }
    fn end(&mut self, now: Time, recorder: &Recorder) {
        if self.until.is_none() {
            self.until = Some((now, recorder.bytes()));
        }
    }
    fn contest(self) -> Option<Contest> {
        let ((from, before), (until, after)) = (self.from?, self.until?);
        let served = after
            .iter()
            .zip(before)
            .map(|(after, before)| after - before);
        let bytes = served.zip(self.asking);
        Some(Contest {
            from,
            until,
            bytes: bytes.map(|(served, asks)| asks.then_some(served)).collect(),
        })
    }
}

/// When the first request could be issued, [`Time::MAX`] if there is none; and of those that the device
/// takes, the stream whose request is issued first, and when. Of equals, the first stream.
#[inline(never)]
fn earliest(intakes: &mut [Intake<'_>], store: &impl BlockDevice) -> (Time, Option<(usize, Time)>) {
    let mut soonest = Time::MAX;
    let mut first: Option<(usize, Time)> = None;
    for (place, intake) in intakes.iter_mut().enumerate() {
        let Some(arrival) = intake.next_arrival() else {
            continue;
        };
        soonest = soonest.min(arrival);
        if first.is_none_or(|(_, first)| arrival < first) && store.takes(intake.stream) {
            first = Some((place, arrival));
        }
    }
    (soonest, first)
}

/// All that ask the device for something.
struct Host<'a> {
    intakes: Vec<Intake<'a>>,
    /// Requests that may still be issued.
    left: u64,
    /// Before it there are only events, whatever the device takes, until a request is issued or completes.
    soonest: Time,
    /// Before it nobody else has anything to do beside events.
    calm_until: Time,
    standing: Standing,
}

impl<'a> Host<'a> {
    fn new(inputs: Vec<Input<'a>>, max_requests: Option<u64>, flushes: bool) -> Self {
        let streams = inputs.into_iter().zip(0..);
        let mut host = Self {
            intakes: streams
                .map(|(input, stream)| Intake::new(input, stream, flushes))
                .collect(),
            left: max_requests.unwrap_or(u64::MAX),
            soonest: Time::ZERO,
            calm_until: Time::ZERO,
            standing: Standing::default(),
        };
        if host.left == 0 {
            host.close();
        }
        if host.intakes.len() > 1 {
            host.standing.asking = host.intakes.iter_mut().map(Intake::has_more).collect();
        }
        host
    }
    fn close(&mut self) {
        self.intakes.iter_mut().for_each(Intake::close);
    }
    /// A stream that should be issued by time stamps that it does not have.
    fn untimed(&self, plan: &Plan) -> Option<SimulationError> {
        let intake = self.intakes.iter().find(|intake| intake.is_untimed())?;
        let own = plan.streams.get(intake.stream as usize);
        Some(SimulationError::Untimed(own.map_or_else(
            || "replay".to_owned(),
            |stream| format!("streams.{}.replay", stream.name),
        )))
    }
    /// What keeps the run from beginning: a bad input, or none at all.
    fn fault(&mut self) -> Option<SimulationError> {
        let more = self
            .intakes
            .iter_mut()
            .filter_map(|intake| intake.has_more().then_some(()))
            .count();
        if let Some(error) = self.error() {
            return Some(error.into());
        }
        (more == 0).then(|| {
            SimulationError::Empty(
                "the input holds no read or write; check the trace, and the volume if one was chosen".into(),
            )
        })
    }
    /// The first error of a source.
    fn error(&mut self) -> Option<WorkloadError> {
        self.intakes
            .iter_mut()
            .find_map(|intake| intake.error.take())
    }
    /// Of the requests that the device takes, the one issued first, and of equals that of the first
    /// stream: its stream, and when it is issued.
    #[inline(always)]
    fn next_arrival(&mut self, store: &impl BlockDevice) -> Option<(usize, Time)> {
        let first;
        (self.soonest, first) = match self.intakes.as_mut_slice() {
            [single] => {
                let arrival = single.next_arrival();
                let first = arrival
                    .filter(|_| store.takes(0))
                    .map(|arrival| (0, arrival));
                (arrival.unwrap_or(Time::MAX), first)
            }
            several => earliest(several, store),
        };
        first
    }
    /// The next request, no later than `due` and no earlier than `now`; its place in time is the later
    /// of its arrival and `now`.
    #[inline(always)]
    fn next(&mut self, store: &impl BlockDevice, now: Time, due: Time) -> Option<Request> {
        let (stream, arrival) = self.next_arrival(store)?;
        if arrival.max(now) > due {
            return None;
        }
        self.intakes[stream].next(arrival)
    }
    /// The device has taken the request that was next.
    #[inline]
    fn take(&mut self, now: Time, request: &Request, recorder: &Recorder) {
        let [single] = self.intakes.as_mut_slice() else {
            self.soonest = Time::ZERO;
            return self.take_of_several(now, request, recorder);
        };
        single.take(request);
        self.soonest = if single.waits() {
            self.calm_until
        } else {
            Time::ZERO
        };
        self.left -= 1;
        if self.left == 0 {
            self.close();
        }
    }
    /// Tells the store what follows a request of a stream.
    #[inline]
    fn prefetch(&mut self, stream: u32, store: &mut impl BlockDevice) {
        let intake = &mut self.intakes[stream as usize];
        if intake.has_more()
            && let Some(next) = &intake.ahead
        {
            store.prefetch(next);
        }
    }
    #[inline(never)]
    fn take_of_several(&mut self, now: Time, request: &Request, recorder: &Recorder) {
        let intake = &mut self.intakes[request.stream as usize];
        if intake.first_arrival.is_none() {
            self.standing.begin(now, recorder);
        }
        intake.take(request);
        let faulty = !intake.has_more() && intake.error.is_some();
        self.left -= 1;
        if self.left == 0 || faulty {
            self.close();
        }
        if !self.intakes[request.stream as usize].has_more() {
            self.standing.end(now, recorder);
        }
    }
    #[inline(always)]
    fn completed(&mut self, now: Time, store: &mut impl BlockDevice) {
        if store.has_completions() {
            self.hear_completed(now, store);
        }
    }
    fn hear_completed(&mut self, now: Time, store: &mut impl BlockDevice) {
        self.soonest = Time::ZERO;
        for done in store.completions() {
            self.intakes[done.stream as usize].completed(now);
        }
    }
    /// The power has failed: what was under way is lost, and closed loops go on with the next.
    fn lost(&mut self, now: Time, store: &mut impl BlockDevice) {
        self.soonest = Time::ZERO;
        for done in store.completions() {
            let intake = &mut self.intakes[done.stream as usize];
            intake.lost += 1;
            intake.completed(now);
        }
    }
    /// Tells the device what comes next, as far as it wants to hear of it.
    #[cold]
    fn look_ahead<S: BlockDevice>(
        &mut self,
        now: Time,
        store: &mut S,
        queue: &mut EventQueue<S::Event>,
    ) {
        let most = store.tags() as usize;
        let mut upcoming = Vec::with_capacity(most * self.intakes.len());
        for intake in &mut self.intakes {
            intake.look_ahead(most, &mut upcoming);
        }
        upcoming.sort_by_key(|request| request.arrival);
        upcoming.truncate(most);
        store.look_ahead(now, &upcoming, queue);
    }
    fn progress(&self, now: Time) -> Progress {
        Progress {
            phase: Phase::Run,
            now,
            done: self.issued(),
            fraction: self.fraction(),
        }
    }
    /// Requests issued.
    fn issued(&self) -> u64 {
        self.intakes
            .iter()
            .map(|intake| intake.counts().issued())
            .sum()
    }
    /// Share of the input consumed, if all sources know it: their mean.
    fn fraction(&self) -> Option<f64> {
        let fractions = self.intakes.iter().map(|intake| intake.source.fraction());
        let sum = fractions.sum::<Option<f64>>()?;
        Some(sum / self.intakes.len() as f64)
    }
}

/// Counts events in strides, downwards.
struct Count {
    /// In the strides before.
    before: u64,
    stride: u32,
    /// Still to come in this stride.
    left: u32,
}

impl Count {
    fn new(stride: u32) -> Self {
        Self {
            before: 0,
            stride,
            left: stride,
        }
    }
    fn total(&self) -> u64 {
        self.before + u64::from(self.stride - self.left)
    }
    /// Counts an event, and tells whether it was the last of its stride.
    #[inline]
    fn ends(&mut self) -> bool {
        self.left -= 1;
        self.left == 0
    }
    fn begin(&mut self) {
        self.before = self.total();
        self.left = self.stride;
    }
}

/// Reads how long the buses and dies have been busy, into memory that is kept for it.
fn read<'a>(busy: &'a mut Busy, store: &impl BlockDevice) -> Lanes<'a> {
    busy.buses.clear();
    busy.dies.clear();
    store.busy(busy);
    Lanes {
        buses: &busy.buses,
        dies: &busy.dies,
    }
}

/// What the loop leaves behind.
struct Ended {
    now: Time,
    events: Count,
    digest: Digest,
    stop: Option<Stop>,
    chip_loads: Option<ChipLoads>,
    busy: Busy,
    /// When the buses and dies are looked at next; the start, before anyone was asked.
    next_look: Time,
}

impl Ended {
    fn new(stop: Option<Stop>) -> Self {
        Self {
            now: Time::ZERO,
            events: Count::new(STRIDE),
            digest: Digest::default(),
            stop,
            chip_loads: None,
            busy: Busy::default(),
            next_look: Time::ZERO,
        }
    }
    fn looking(chip_loads: Option<ChipLoads>, stride: u32) -> Self {
        Self {
            events: Count::new(stride),
            chip_loads,
            ..Self::new(None)
        }
    }
    /// Up to it nothing is due but what happens in the device and the host.
    fn uneventful_until(&self) -> Time {
        self.next_look.min(CLOCK_END)
    }
    /// Looks at the buses and dies, if it is time to, before something happens at `until`.
    #[inline]
    fn look<S: BlockDevice>(
        &mut self,
        until: Time,
        store: &S,
        audience: &mut impl Audience<S::Observation>,
    ) {
        if self.next_look < until {
            self.look_now(until, store, audience);
        }
    }
    #[cold]
    #[inline(never)]
    fn look_now<S: BlockDevice>(
        &mut self,
        until: Time,
        store: &S,
        audience: &mut impl Audience<S::Observation>,
    ) {
        if let Some(loads) = &mut self.chip_loads
            && loads.next() < until
        {
            loads.look(until, |times| store.chip_times(times));
        }
        if audience.next_look() < until {
            audience.look(until, read(&mut self.busy, store));
        }
        let loads = self.chip_loads.as_ref();
        let next = loads.map_or(Time::MAX, ChipLoads::next);
        self.next_look = next.min(audience.next_look());
    }
    /// What the buses and dies are at now is broken off.
    fn break_off<S: BlockDevice>(
        &mut self,
        store: &S,
        audience: &mut impl Audience<S::Observation>,
    ) {
        audience.break_off(self.now, read(&mut self.busy, store));
    }
}

/// When the power fails, at random: after a request that is drawn, and some events more.
struct PowerCuts {
    random: Stream,
    every: u64,
    /// Requests issued after which it fails next.
    after_requests: u64,
    /// Events after which it fails, once those requests are issued.
    at_event: Option<u64>,
}

/// Most events between the request that a cut is drawn for and the cut.
const EVENTS_TO_CUT: u64 = 256;

impl PowerCuts {
    fn new(plan: &Plan, every: u64) -> Self {
        let mut cuts = Self {
            random: Stream::new(plan.seed, "power"),
            every,
            after_requests: 0,
            at_event: None,
        };
        cuts.draw(0);
        cuts
    }
    fn draw(&mut self, issued: u64) {
        self.after_requests = issued + 1 + self.random.below(2 * self.every);
        self.at_event = None;
    }
    /// Whether the power fails now.
    fn is_due(&mut self, issued: u64, events: u64) -> bool {
        if issued < self.after_requests {
            return false;
        }
        let random = &mut self.random;
        let at = *self
            .at_event
            .get_or_insert_with(|| events + random.below(EVENTS_TO_CUT));
        events >= at
    }
}

/// Serves the requests of a host, and reads off what the devices were at in the end.
fn simulate<S: BlockDevice>(
    store: &mut S,
    host: &mut Host<'_>,
    audience: &mut impl Audience<S::Observation>,
    watcher: &mut Watcher<'_>,
    cuts: Option<PowerCuts>,
    chip_loads: Option<ChipLoads>,
) -> Ended {
    let mut ended = serve(store, host, audience, watcher, cuts, chip_loads);
    ended.break_off(store, audience);
    ended
}

/// The loop of a run: a function by itself in every build, so that `benches/d4.rs` can count it alone.
#[inline(never)]
fn serve<S: BlockDevice>(
    store: &mut S,
    host: &mut Host<'_>,
    audience: &mut impl Audience<S::Observation>,
    watcher: &mut Watcher<'_>,
    mut cuts: Option<PowerCuts>,
    chip_loads: Option<ChipLoads>,
) -> Ended {
    let mut queue = EventQueue::<S::Event>::default();
    // A cut may come after any event.
    let stride = if cuts.is_some() { 1 } else { STRIDE };
    let mut ended = Ended::looking(chip_loads, stride);
    let looks_ahead = store.tags() > 0;
    if looks_ahead {
        host.look_ahead(Time::ZERO, store, &mut queue);
    }
    loop {
        let due = queue.next_time().unwrap_or(Time::MAX);
        if due >= host.soonest {
            if let Some(request) = host.next(store, ended.now, due) {
                let before_arrival = ended.now;
                ended.now = ended.now.max(request.arrival);
                if ended.now > CLOCK_END {
                    ended.now = before_arrival;
                    ended.stop = Some(Stop::Clock);
                    return ended;
                }
                ended.look(ended.now, store, audience);
                ended.digest.mix(ended.now.0);
                ended.digest.mix(request.offset);
                ended.digest.mix(request.bytes);
                ended.digest.mix(
                    u64::from(request.stream) << 32
                        | u64::from(request.fua) << 8
                        | request.op as u64,
                );
                if let Err(error) = store.submit(ended.now, request, &mut queue, audience) {
                    ended.stop = Some(Stop::of(&error));
                    return ended;
                }
                host.take(ended.now, &request, audience.recorder());
                host.prefetch(request.stream, store);
                if looks_ahead {
                    host.look_ahead(ended.now, store, &mut queue);
                }
                host.completed(ended.now, store);
                if watcher.is_due(1) && !watcher.report(&host.progress(ended.now)) {
                    ended.stop = Some(Stop::Interrupted);
                    return ended;
                }
                continue;
            }
            if due == Time::MAX {
                break;
            }
            if due > CLOCK_END {
                ended.stop = Some(Stop::Clock);
                return ended;
            }
            ended.look(due, store, audience);
            host.calm_until = ended.uneventful_until() + Time(1);
            host.soonest = host.soonest.min(host.calm_until);
        }
        let Some((now, event)) = queue.pop() else {
            break;
        };
        ended.now = now;
        ended.digest.mix(now.0);
        event.mix(&mut ended.digest);
        if let Err(error) = store.handle(now, event, &mut queue, audience) {
            ended.events.ends();
            ended.stop = Some(Stop::of(&error));
            return ended;
        }
        host.completed(now, store);
        if ended.events.ends() {
            ended.events.begin();
            if let Some(cuts) = &mut cuts
                && cuts.is_due(host.issued(), ended.events.total())
                && let Err(stop) = cut_power(store, host, audience, &mut queue, cuts, &mut ended)
            {
                ended.stop = Some(stop);
                return ended;
            }
            if watcher.is_due(stride) && !watcher.report(&host.progress(ended.now)) {
                ended.stop = Some(Stop::Interrupted);
                return ended;
            }
        }
    }
    ended.stop = host.error().map(Stop::of_source);
    ended
}

/// The power fails and comes back; the host goes on when the devices have recovered.
#[cold]
#[inline(never)]
fn cut_power<S: BlockDevice>(
    store: &mut S,
    host: &mut Host<'_>,
    audience: &mut impl Audience<S::Observation>,
    queue: &mut EventQueue<S::Event>,
    cuts: &mut PowerCuts,
    ended: &mut Ended,
) -> Result<(), Stop> {
    cuts.draw(host.issued());
    *queue = EventQueue::default();
    ended.break_off(store, audience);
    let cut = store.cut_power(ended.now, audience);
    ended.now += cut.map_err(|error| Stop::of(&error))?.time;
    ended.digest.mix(ended.now.0);
    host.lost(ended.now, store);
    let resumed = store.resume(ended.now, queue, audience);
    resumed.map_err(|error| Stop::of(&error))?;
    host.completed(ended.now, store);
    if store.tags() > 0 {
        host.look_ahead(ended.now, store, queue);
    }
    Ok(())
}

fn resident_bytes() -> u64 {
    memory_stats::memory_stats().map_or(0, |stats| stats.physical_mem as u64)
}

/// The devices of a run, told what they have to do for it from the start.
fn pristine(plan: &Plan, options: &Options) -> Result<Vec<Ssd<Map>>, DeviceError> {
    let mut ssds = devices::pristine(plan);
    if options.power_cut_every.is_some() {
        ssds.iter_mut().for_each(Ssd::expect_power_cuts);
    }
    if let Some(maker) = &options.buffer_policy {
        ssds.iter_mut().try_for_each(|ssd| ssd.evict_by(maker))?;
    }
    Ok(ssds)
}

/// Simulates the requests of `inputs`, one for each stream of `plan`, on its device.
///
/// An interruption, a bad line or a failure of the device end the run; what was simulated until
/// then is in the results, which say so.
///
/// # Panics
/// If there are not as many inputs as streams (one, if the plan names none), or if a run that reached
/// its end has not served every request, which is a fault of the simulator.
pub fn run(
    plan: &Plan,
    inputs: Vec<Input<'_>>,
    options: &Options,
    watch: Watch<'_>,
) -> Result<Results, SimulationError> {
    assert_eq!(
        inputs.len(),
        plan.streams.len().max(1),
        "every stream has an input"
    );
    let (wall, cpu) = (Instant::now(), ProcessTime::now());
    let mut host = Host::new(inputs, options.max_requests, plan.has_buffer());
    if let Some(fault) = host.untimed(plan).or_else(|| host.fault()) {
        return Err(fault);
    }
    let memory_note = require_memory(plan, options)?;
    let timeline = match &options.timeline {
        Some(options) => Some(Box::new(Timeline::create(plan, options)?)),
        None => None,
    };
    let recorder = Recorder::new(plan, options.requests);
    let mut ssds = pristine(plan, options)?;
    let memory = resident_bytes();
    let mut watcher = Watcher::new(watch);
    let before = cpu.elapsed();
    let preconditioned = devices::prepare(plan, &mut ssds, |done, fraction| {
        let progress = Progress {
            phase: Phase::Precondition,
            now: Time::ZERO,
            done,
            fraction,
        };
        watcher.last.elapsed() < BETWEEN_REPORTS || watcher.report(&progress)
    })?;
    let precondition_cpu = cpu.elapsed().saturating_sub(before);
    if options.verify {
        ssds.iter_mut().for_each(Ssd::verify);
    }
    let cuts = options
        .power_cut_every
        .map(|every| PowerCuts::new(plan, every));
    let work = Work {
        ssds,
        preconditioned,
        recorder,
        timeline,
        chip_loads: plan.observe.chip_load_interval.map(ChipLoads::every),
    };
    let left = match plan.array() {
        None => work.on_one(&mut host, &mut watcher, cuts),
        Some(array) => work.on_array(plan, array, &mut host, &mut watcher, cuts),
    };
    let Left {
        ended,
        resident_bytes,
        recorder,
        members,
        timeline,
        devices,
    } = left;
    let mut error = ended.stop.as_ref().map(ToString::to_string);
    if error.is_none() {
        let counts = host.intakes.iter().map(Intake::counts);
        let served = counts.map(|counts| counts.issued() - counts.lost);
        assert!(
            recorder.completed().eq(served),
            "every request of every stream is served"
        );
    }
    let speed = Speed {
        wall: wall.elapsed(),
        cpu: cpu.elapsed(),
        precondition_cpu,
        events: ended.events.total(),
        resident_bytes: resident_bytes.saturating_sub(memory),
    };
    let asked: Vec<Asked> = host.intakes.iter().map(Intake::asked).collect();
    let first_arrival = outcome::first_arrival(&asked);
    let mut note = None;
    if let Some(timeline) = timeline {
        let written;
        (note, written) = timeline.finish(first_arrival, ended.now);
        error = error.or(written.err().map(|error| error.to_string()));
    }
    let (record, rows) = recorder.finish(ended.now);
    let members = members.into_iter().map(|member| member.finish(ended.now).0);
    let outcome = Outcome {
        plan: plan.clone(),
        record,
        chip_loads: ended.chip_loads,
        members: members.collect(),
        devices,
        streams: asked,
        contest: host.standing.contest(),
        digest: ended.digest.value(),
        end: ended.now,
        error,
        interrupted: matches!(ended.stop, Some(Stop::Interrupted)),
        speed,
    };
    let mut results = Results::new(outcome, rows);
    let notes = [note, memory_note].into_iter().flatten();
    results.summary.notes.extend(notes);
    Ok(results)
}

/// Refuses a run that cannot have the memory it takes; says what may become short.
fn require_memory(plan: &Plan, options: &Options) -> Result<Option<String>, SimulationError> {
    let estimate = estimate(plan, options.memory(plan));
    let limits = Limits::now();
    estimate.check(&limits)?;
    Ok(estimate.note(&limits))
}

/// A run that is prepared.
struct Work {
    ssds: Vec<Ssd<Map>>,
    preconditioned: Vec<Preconditioned>,
    recorder: Recorder,
    timeline: Option<Box<Timeline>>,
    chip_loads: Option<ChipLoads>,
}

/// What a run has left, to be summed up.
struct Left {
    ended: Ended,
    /// Before anything was summed up.
    resident_bytes: u64,
    recorder: Recorder,
    /// What was recorded of each member of an array.
    members: Vec<Recorder>,
    timeline: Option<Box<Timeline>>,
    devices: Vec<Device>,
}

impl Work {
    fn is_stopped(&self) -> bool {
        self.preconditioned.iter().any(|done| done.stopped)
    }

    fn on_one(
        mut self,
        host: &mut Host<'_>,
        watcher: &mut Watcher<'_>,
        cuts: Option<PowerCuts>,
    ) -> Left {
        let stopped = self.is_stopped();
        let mut ssd = self.ssds.remove(0);
        let loads = self.chip_loads.take();
        let (mut recorder, mut timeline) = (self.recorder, self.timeline);
        if let Some(timeline) = &mut timeline {
            timeline.begin([&ssd]);
        }
        let ended;
        if stopped {
            ended = Ended::new(Some(Stop::Interrupted));
        } else if let Some(drawing) = timeline {
            let mut drawn = Drawn {
                recorder,
                timeline: drawing,
            };
            ended = simulate(&mut ssd, host, &mut drawn, watcher, cuts, loads);
            (recorder, timeline) = (drawn.recorder, Some(drawn.timeline));
        } else {
            ended = simulate(&mut ssd, host, &mut recorder, watcher, cuts, loads);
        }
        Left {
            ended,
            resident_bytes: resident_bytes(),
            recorder,
            members: Vec::new(),
            timeline,
            devices: vec![Device::of(&ssd, self.preconditioned[0])],
        }
    }

    fn on_array(
        mut self,
        plan: &Plan,
        array: &plan::Array,
        host: &mut Host<'_>,
        watcher: &mut Watcher<'_>,
        cuts: Option<PowerCuts>,
    ) -> Left {
        let stopped = self.is_stopped();
        if let Some(timeline) = &mut self.timeline {
            timeline.begin(&self.ssds);
        }
        let mut audience = Several::new(plan, self.recorder, self.timeline);
        let loads = self.chip_loads.take();
        let mut ssds = self.ssds.into_iter();
        let preconditioned = self.preconditioned.into_iter();
        let devices = |ssds: Vec<&Ssd<Map>>| {
            let devices = ssds.into_iter().zip(preconditioned);
            let devices = devices.map(|(ssd, done)| Device::of(ssd, done));
            (resident_bytes(), devices.collect())
        };
        let (ended, (resident_bytes, devices)) = if stopped {
            let ended = Ended::new(Some(Stop::Interrupted));
            (ended, devices(ssds.as_slice().iter().collect()))
        } else if array.is_nested() {
            let mut store = store_of(array, &mut ssds);
            let ended = simulate(&mut store, host, &mut audience, watcher, cuts, loads);
            (ended, devices(store.devices()))
        } else {
            let mut store = array_of(array, &mut ssds);
            let ended = simulate(&mut store, host, &mut audience, watcher, cuts, loads);
            (ended, devices(store.members().collect()))
        };
        let (recorder, members, timeline) = audience.into_parts();
        Left {
            ended,
            resident_bytes,
            recorder,
            members,
            timeline,
            devices,
        }
    }
}

/// An array of SSDs, which are next in `ssds`.
fn array_of(array: &plan::Array, ssds: &mut dyn Iterator<Item = Ssd<Map>>) -> Array<Ssd<Map>> {
    let names = array.members.iter().map(|member| member.name.clone());
    Array::new(array.layout.clone(), names.zip(ssds))
}

/// An array of SSDs, which are next in `ssds`, and of further arrays.
fn store_of(
    array: &plan::Array,
    ssds: &mut dyn Iterator<Item = Ssd<Map>>,
) -> wordline_store::Store<Ssd<Map>> {
    use wordline_store::Store;
    if !array.is_nested() {
        return Store::OfDevices(array_of(array, ssds));
    }
    let members = array.members.iter().filter_map(|member| {
        let store = match &member.store {
            plan::Store::Ssd(_) => Store::of_one(ssds.next()?),
            plan::Store::Array(array) => store_of(array, ssds),
        };
        Some((member.name.clone(), store))
    });
    Store::OfStores(Array::new(array.layout.clone(), members))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_config::load;
    use wordline_device::Observation;
    use wordline_kernel::Probe;
    use wordline_observe::{Busy, Grid, Intervals};
    use wordline_workload::generate::Generator;

    const INTERVALS: usize = 64;

    /// Hears of every hold that is over, and distributes it over intervals.
    struct Told {
        recorder: Recorder,
        buses: Vec<Intervals<Time>>,
        dies: Vec<Intervals<Time>>,
    }

    impl Told {
        fn new(plan: &Plan) -> Self {
            let lanes = |lanes: u32| {
                let lane = || Intervals::new(Grid::growing(Time::from_us(1), INTERVALS));
                std::iter::repeat_with(lane).take(lanes as usize).collect()
            };
            Self {
                recorder: Recorder::new(plan, false),
                buses: lanes(plan.first().dimensions.channels),
                dies: lanes(plan.first().part.layout.dies),
            }
        }
    }

    impl Probe<Observation> for Told {
        fn observe(&mut self, now: Time, observation: Observation) {
            self.recorder.hear(now, observation);
            let (lane, from) = match observation {
                Observation::Bus { channel, from, .. } => (&mut self.buses[channel as usize], from),
                Observation::Die { die, from, .. } => (&mut self.dies[die.index()], from),
                _ => return,
            };
            lane.span(from, now, |sum, part| *sum += part);
        }
    }

    impl Audience<Observation> for Told {
        fn recorder(&self) -> &Recorder {
            &self.recorder
        }
        fn recorder_mut(&mut self) -> &mut Recorder {
            &mut self.recorder
        }
    }

    /// Runs a load whose operations are suspended, with power cuts or interrupted soon; what was read
    /// off the buses and dies is what was heard of the holds that came to their end.
    fn compare(power_cut_every: Option<u64>) {
        let text = format!(
            "schema = 1\nbase = \"demo\"\n[series]\nintervals = {INTERVALS}\n\
             [nand.suspend]\nprogram = true\nerase = true\nprogram_suspend_ns = 20000\n\
             [workload]\nrequests = 4000\nread_ratio = 0.5\npattern = \"uniform\"\n\
             arrival.closed-loop.queue_depth = 32\n"
        );
        let plan = load(&text, "demo.toml", &[]).unwrap().plan(1).unwrap();
        let load = plan.workload.clone().unwrap();
        let mut source = Generator::new(&load, plan.user_bytes(), 1).unwrap();
        let input = Input {
            source: &mut source,
            replay: Replay::ClosedLoop { queue_depth: 32 },
        };
        let options = Options {
            power_cut_every,
            ..Options::default()
        };
        let mut ssds = pristine(&plan, &options).unwrap();
        devices::prepare(&plan, &mut ssds, |_, _| true).unwrap();
        let mut told = Told::new(&plan);
        let mut go_on = |_: &Progress| power_cut_every.is_some();
        let mut watcher = Watcher::new(&mut go_on);
        watcher.last -= BETWEEN_REPORTS;
        let ended = simulate(
            &mut ssds[0],
            &mut Host::new(vec![input], None, false),
            &mut told,
            &mut watcher,
            power_cut_every.map(|every| PowerCuts::new(&plan, every)),
            None,
        );
        assert_eq!(ended.stop.is_some(), power_cut_every.is_none());
        let (record, _) = told.recorder.finish(ended.now);
        assert_eq!(record.power.cuts > 10, power_cut_every.is_some());
        same(&record.channels, told.buses, ended.now);
        same(&record.dies, told.dies, ended.now);
    }

    fn same(read: &Busy, told: Vec<Intervals<Time>>, end: Time) {
        assert_eq!(read.lanes(), told.len());
        for (lane, mut told) in told.into_iter().enumerate() {
            told.widen(read.grid().width());
            told.close(end);
            let read = read.iter().map(|row| Time(row.busy[lane]));
            let told: Vec<Time> = told.iter().map(|interval| *interval.value).collect();
            assert_eq!(read.collect::<Vec<_>>(), told, "lane {lane}");
        }
    }

    #[test]
    fn holds_that_a_power_cut_ends_are_no_busy_time() {
        compare(Some(40));
    }

    #[test]
    fn holds_that_the_end_of_a_run_ends_are_no_busy_time() {
        compare(None);
    }
}
