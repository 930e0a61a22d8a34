//! From a plan and a source of requests to results.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use thiserror::Error;
use wordline_device::precondition;
use wordline_device::{DeviceError, Event, Observation, Op, Precondition, Request, Ssd};
use wordline_ftl::{Mapping, PageMap};
use wordline_kernel::{Digest, EventQueue, Probe, Time};
use wordline_workload::{Source, WorkloadError};

use crate::config::Plan;
use crate::config::plan::{Replay, Settle};
use crate::outcome::{InputCounts, Outcome, Speed};
use crate::record::Recorder;
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
    /// The timeline to write, if any.
    pub timeline: Option<TimelineOptions>,
}

/// A run that could not start. What goes wrong later ends the run and stands in its results.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SimulationError {
    /// The source cannot be read.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The source has no time stamps.
    #[error(
        "the trace has no time stamps, so it cannot be replayed open loop; set replay.mode.closed-loop.queue_depth"
    )]
    Untimed,
    /// The device could not be brought into its state.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// Nothing to simulate.
    #[error("{0}")]
    Empty(String),
    /// The timeline cannot be written.
    #[error("{0}")]
    Timeline(String),
}

/// What a run is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Filling the device, without timing.
    Precondition,
    /// Serving requests.
    Run,
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

/// Time between two looks at the clock, in events.
const STRIDE: u32 = 4096;
const BETWEEN_REPORTS: Duration = Duration::from_millis(100);

/// Calls the watch from time to time.
struct Watcher<'a> {
    watch: Watch<'a>,
    countdown: u32,
    last: Instant,
}

impl Watcher<'_> {
    #[inline]
    fn is_due(&mut self) -> bool {
        self.countdown -= 1;
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

const CLOCK_ENDED: &str = "simulated time has reached its end after 103 days; shorten the trace, or its gaps \
                           with replay.mode.open-loop.time_scale";

/// How the run ended before its time.
#[derive(Debug)]
enum Stop {
    Clock,
    Interrupted,
    Workload(WorkloadError),
    Device(DeviceError),
}

/// Where requests are taken from, one ahead.
struct Intake<'a> {
    source: &'a mut dyn Source,
    counts: InputCounts,
    left: u64,
    ahead: Option<Request>,
    replay: Replay,
    /// Closed loop: when the next requests are issued.
    tokens: VecDeque<Time>,
    error: Option<WorkloadError>,
}

impl<'a> Intake<'a> {
    fn new(source: &'a mut dyn Source, replay: Replay, max_requests: Option<u64>) -> Self {
        let tokens = match replay {
            Replay::OpenLoop { .. } => VecDeque::new(),
            Replay::ClosedLoop { queue_depth } => vec![Time::ZERO; queue_depth as usize].into(),
        };
        let left = max_requests.unwrap_or(u64::MAX);
        Self {
            source,
            counts: InputCounts::default(),
            left,
            ahead: None,
            replay,
            tokens,
            error: None,
        }
    }

    /// The next request, with the time at which the host issues it; `None` if there is none, or
    /// none before another completes. After the end or an error there is never one.
    #[inline]
    fn peek(&mut self) -> Option<Request> {
        if self.ahead.is_none() && self.left > 0 {
            self.fetch();
        }
        let mut request = self.ahead?;
        if let Replay::ClosedLoop { .. } = self.replay {
            request.arrival = *self.tokens.front()?;
        }
        Some(request)
    }
    #[inline]
    fn take(&mut self, op: Op) {
        self.ahead = None;
        self.left -= 1;
        self.tokens.pop_front();
        match op {
            Op::Read => self.counts.reads += 1,
            Op::Write => self.counts.writes += 1,
        }
    }
    /// Requests have completed.
    #[inline]
    fn completed(&mut self, now: Time, count: u32) {
        if let Replay::ClosedLoop { .. } = self.replay {
            (0..count).for_each(|_| self.tokens.push_back(now));
        }
    }

    fn fetch(&mut self) {
        loop {
            let next = match self.source.next_request() {
                Ok(Some(next)) => next,
                Ok(None) => {
                    self.left = 0;
                    return;
                }
                Err(error) => {
                    self.error = Some(error);
                    self.left = 0;
                    return;
                }
            };
            let op = match next.op {
                wordline_workload::Op::Read => Op::Read,
                wordline_workload::Op::Write => Op::Write,
                wordline_workload::Op::Trim => {
                    self.counts.trims_ignored += 1;
                    continue;
                }
                wordline_workload::Op::Flush => {
                    self.counts.flushes_ignored += 1;
                    continue;
                }
            };
            let arrival = match self.replay {
                Replay::OpenLoop { time_scale } if time_scale != 1.0 => {
                    Time((next.arrival.0 as f64 * time_scale).round() as u64)
                }
                _ => next.arrival,
            };
            self.ahead = Some(Request {
                stream: 0,
                op,
                offset: next.offset,
                bytes: next.bytes,
                arrival,
            });
            return;
        }
    }
}

/// Who hears what the device does.
struct Audience {
    recorder: Recorder,
    timeline: Option<Box<Timeline>>,
}

impl Probe<Observation> for Audience {
    #[inline]
    fn observe(&mut self, now: Time, observation: Observation) {
        self.recorder.observe(now, observation);
        if let Some(timeline) = &mut self.timeline {
            timeline.observe(now, observation);
        }
    }
}

/// What the loop leaves behind.
struct Ended {
    now: Time,
    first_arrival: Option<Time>,
    events: u64,
    digest: Digest,
    stop: Option<Stop>,
}

fn serve(
    ssd: &mut Ssd<PageMap>,
    intake: &mut Intake<'_>,
    audience: &mut Audience,
    watcher: &mut Watcher<'_>,
) -> Ended {
    let mut queue = EventQueue::<Event>::default();
    let mut ended = Ended {
        now: Time::ZERO,
        first_arrival: None,
        events: 0,
        digest: Digest::default(),
        stop: None,
    };
    if let Some(timeline) = &mut audience.timeline {
        let free = ssd.mapping().free_blocks();
        timeline.observe(Time::ZERO, Observation::Admitted { in_flight: 0 });
        timeline.observe(Time::ZERO, Observation::FreeBlocks { free });
    }
    loop {
        if watcher.is_due() {
            let done = intake.counts.reads + intake.counts.writes;
            let fraction = intake.source.fraction();
            let progress = Progress {
                phase: Phase::Run,
                now: ended.now,
                done,
                fraction,
            };
            if !watcher.report(&progress) {
                ended.stop = Some(Stop::Interrupted);
                return ended;
            }
        }
        let due = queue.next_time();
        if ssd.takes(0)
            && let Some(request) = intake.peek()
            && due.is_none_or(|due| request.arrival.max(ended.now) <= due)
        {
            let before_arrival = ended.now;
            ended.now = ended.now.max(request.arrival);
            if ended.now > CLOCK_END {
                ended.now = before_arrival;
                ended.stop = Some(Stop::Clock);
                return ended;
            }
            ended.first_arrival.get_or_insert(request.arrival);
            ended.digest.mix(ended.now.0);
            ended.digest.mix(request.offset);
            ended.digest.mix(request.bytes);
            ended.digest.mix(request.op as u64);
            if let Err(error) = ssd.submit(ended.now, request, &mut queue, audience) {
                ended.stop = Some(Stop::Device(error));
                return ended;
            }
            intake.take(request.op);
            intake.completed(ended.now, ssd.completed().count() as u32);
            continue;
        }
        let Some((now, event)) = queue.pop() else {
            break;
        };
        if now > CLOCK_END {
            ended.stop = Some(Stop::Clock);
            return ended;
        }
        ended.now = now;
        ended.events += 1;
        ended.digest.mix(now.0);
        ended.digest.mix(event.code());
        if let Err(error) = ssd.handle(now, event, &mut queue, audience) {
            ended.stop = Some(Stop::Device(error));
            return ended;
        }
        intake.completed(now, ssd.completed().count() as u32);
    }
    ended.stop = intake.error.take().map(Stop::Workload);
    ended
}

fn precondition(plan: &Plan) -> Precondition {
    let settle = match plan.precondition.settle {
        Settle::No => None,
        Settle::Until {
            tolerance_ratio,
            limit_pages,
        } => Some(precondition::Settle {
            tolerance_ratio,
            limit_pages,
        }),
    };
    Precondition {
        fill_pages: plan.precondition.fill_pages,
        overwrite_pages: plan.precondition.overwrite_pages,
        settle,
        seed: plan.seed,
    }
}

fn resident_bytes() -> u64 {
    memory_stats::memory_stats().map_or(0, |stats| stats.physical_mem as u64)
}

/// Simulates `source` on the device of `plan`.
///
/// An interruption, a bad line or a failure of the device end the run; what was simulated until
/// then is in the results, which say so.
///
/// # Panics
/// If a run that reached its end has not served every request, which is a fault of the simulator.
pub fn run(
    plan: &Plan,
    source: &mut dyn Source,
    replay: Replay,
    options: &Options,
    watch: Watch<'_>,
) -> Result<Results, SimulationError> {
    if matches!(replay, Replay::OpenLoop { .. }) && !source.timed() {
        return Err(SimulationError::Untimed);
    }
    let (wall, cpu) = (Instant::now(), ProcessTime::now());
    let mut intake = Intake::new(source, replay, options.max_requests);
    if intake.peek().is_none() {
        return Err(match intake.error {
            Some(error) => error.into(),
            None => SimulationError::Empty(
                "the input holds no read or write; check the trace, and the volume if one was chosen".into(),
            ),
        });
    }
    let mut ssd = Ssd::new(&plan.device(), PageMap::new(&plan.ftl));
    let timeline = match &options.timeline {
        Some(options) => Some(Box::new(Timeline::create(plan, options)?)),
        None => None,
    };
    let mut audience = Audience {
        recorder: Recorder::new(plan, options.requests),
        timeline,
    };
    let memory = resident_bytes();
    let mut watcher = Watcher {
        watch,
        countdown: STRIDE,
        last: Instant::now(),
    };
    let total = u64::from(plan.precondition.fill_pages) + plan.precondition.overwrite_pages;
    let preconditioned = ssd.precondition(&precondition(plan), |done| {
        let fraction = (total > 0).then(|| (done as f64 / total as f64).min(1.0));
        let progress = Progress {
            phase: Phase::Precondition,
            now: Time::ZERO,
            done,
            fraction,
        };
        watcher.last.elapsed() < BETWEEN_REPORTS || watcher.report(&progress)
    })?;
    if options.verify {
        ssd.verify();
    }
    let ended = if preconditioned.stopped {
        Ended {
            now: Time::ZERO,
            first_arrival: None,
            events: 0,
            digest: Digest::default(),
            stop: Some(Stop::Interrupted),
        }
    } else {
        serve(&mut ssd, &mut intake, &mut audience, &mut watcher)
    };
    let counts = intake.counts;
    let Audience { recorder, timeline } = audience;
    let mut error = match ended.stop {
        None => None,
        Some(Stop::Interrupted) => Some("interrupted".to_owned()),
        Some(Stop::Clock) => Some(CLOCK_ENDED.to_owned()),
        Some(Stop::Workload(ref error)) => Some(error.to_string()),
        Some(Stop::Device(ref error)) => Some(error.to_string()),
    };
    if error.is_none() {
        let served = recorder.completed();
        assert_eq!(
            served,
            counts.reads + counts.writes,
            "every request generated is served"
        );
    }
    let speed = Speed {
        wall: wall.elapsed(),
        cpu: cpu.elapsed(),
        events: ended.events,
        resident_bytes: resident_bytes().saturating_sub(memory),
    };
    let first_arrival = ended.first_arrival.unwrap_or_default();
    let mut note = None;
    if let Some(timeline) = timeline {
        let written;
        (note, written) = timeline.finish(first_arrival, ended.now);
        error = error.or(written.err().map(|error| error.to_string()));
    }
    let (record, rows) = recorder.finish(ended.now);
    let outcome = Outcome {
        plan: plan.clone(),
        replay,
        record,
        counts,
        preconditioned,
        digest: ended.digest.value(),
        first_arrival,
        end: ended.now,
        error,
        interrupted: matches!(ended.stop, Some(Stop::Interrupted)),
        speed,
    };
    let mut results = Results::new(outcome, rows, &ssd);
    results.summary.notes.extend(note);
    Ok(results)
}

impl Plan {
    /// The device of this plan.
    pub fn device(&self) -> wordline_device::Plan {
        wordline_device::Plan {
            part: self.part.clone(),
            dies_per_channel: self.dimensions.ways * self.dimensions.dies,
            page_bytes: self.geometry.page_bytes,
            internal_data_move: self.internal_data_move,
            dies_per_package: self.dimensions.dies,
            composition: self.composition.clone(),
            queue_depth: self.queue_depth,
            interface: self.interface.clone(),
            streams: Vec::new(),
            ftl: self.ftl.clone(),
        }
    }
}
