//! Simulates a plan with sources of requests, and returns the results.

mod any_store;
mod cached;
mod checkpoint;
mod contention;
mod disks;
mod event_loop;
mod intake;
mod issuer;
mod live;
mod power_cuts;
mod resume;
mod shape;
mod snapshot;
mod ssds;
mod start;
mod trend;
mod watch;

pub use self::checkpoint::CheckpointOptions;
use self::checkpoint::Checkpoints;
pub use self::intake::Input;
use self::intake::Intake;
use self::issuer::Host;
use self::live::{Arrivals, Live};
pub use self::live::{Clients, LiveRequest, Turn, Volatile};
use self::shape::{Capabilities, OnShape, RunOutput, RunShape, on_shape};
pub use self::snapshot::Snapshot;
use self::snapshot::{Cost, describe_live, issued};
use self::start::{Start, Started, preconditioned, pristine};
use self::watch::Watcher;
pub use self::watch::{Phase, Progress, Watch};
use crate::error::SimulationError;

use crate::memory::{self, estimate};
use crate::timeline::{Timeline, TimelineOptions};
use cpu_time::ProcessTime;
use serde_json::Value;
use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::time::Instant;
use twox_hash::XxHash3_64;
use wordline_cache::replacement::foreign::Maker;
use wordline_config::Plan;
use wordline_config::plan::{Replay, Shape};
use wordline_memory::Limits;
use wordline_results::outcome;
use wordline_results::results::Results;
use wordline_results::summary::Reference;

/// Run options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)]
pub struct Options {
    /// Whether to record a row per request, in memory.
    pub requests: bool,
    /// Whether to verify every read against a content oracle.
    pub verify: bool,
    /// Maximum number of requests to simulate.
    pub max_requests: Option<u64>,
    /// Mean number of requests between random power cuts.
    pub power_cut_every: Option<u64>,
    /// Whether the clients of a live run may cut the power.
    pub power_cuts_on_demand: bool,
    /// Timeline to write, if any.
    pub timeline: Option<TimelineOptions>,
    /// Factory of the replacement policies of the DRAM buffers, in place of the plan's.
    pub buffer_policy: Option<Maker>,
    /// Options for checkpoints. Cannot be combined with a timeline or a custom policy.
    pub checkpoint: Option<CheckpointOptions>,
    /// Prepared devices, in place of preconditioning.
    pub prepared: Option<PathBuf>,
    /// Checkpoint to resume.
    pub resume: Option<PathBuf>,
    /// Whether to call the watch after every event and request instead of about ten times a second.
    pub watch_events: bool,
}

impl Options {
    /// Returns `true` if the power may fail.
    pub fn has_power_cuts(&self) -> bool {
        self.power_cut_every.is_some() || self.power_cuts_on_demand
    }
    /// Returns the options that take memory in a run of `plan`.
    fn memory(&self, plan: &Plan) -> memory::Checks {
        memory::Checks {
            rows: self.requests.then(|| {
                let most = self.max_requests.unwrap_or(u64::MAX);
                memory::generated(plan).map_or(self.max_requests.unwrap_or(0), |all| all.min(most))
            }),
            verify: self.verify,
            power_cuts: self.has_power_cuts(),
        }
    }
}

/// Simulates the requests of `inputs`, one input per stream of `plan`, on its store.
///
/// An interruption, a faulty line or a device error ends the run. The results then cover what was
/// simulated so far, and report the reason.
///
/// # Panics
/// If the number of inputs differs from the number of streams (one, if the plan names none), or if
/// a run that reached its end has not served every request, which is a bug of the simulator.
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
    let clocks = (Instant::now(), ProcessTime::now());
    let mut watcher = Watcher::new(watch);
    if options.watch_events {
        watcher = watcher.at_every_event();
    }
    let run = match &options.resume {
        None => Run::start(plan, inputs, options, &mut watcher, None, clocks),
        Some(path) => Run::resume(plan, inputs, options, path, &mut watcher, clocks),
    }?;
    Ok(run.results(plan, &watcher))
}

/// Simulates the requests that `clients` send while the run proceeds.
///
/// The run ends when the clients end it. An interruption or a device error ends it earlier, with
/// the results so far. Requests are replayed by time stamp: a run on the recorded requests has the
/// same digest. `references` are the policies that are based on a paper, for the summary.
///
/// # Panics
/// If a run that reached its end has not served every request, which is a bug of the simulator.
pub fn run_live(
    plan: &Plan,
    clients: &mut dyn Clients,
    references: Vec<Reference>,
    options: &Options,
    watch: Watch<'_>,
) -> Result<Results, SimulationError> {
    let clocks = (Instant::now(), ProcessTime::now());
    let mut watcher = Watcher::new(watch);
    let mut arrivals = Arrivals::default();
    let live = Live::new(clients, &arrivals, plan.takes_flushes(), references.clone());
    let input = Input {
        source: &mut arrivals,
        replay: Replay::OpenLoop { time_scale: 1.0 },
    };
    let live = Some(live);
    let run = Run::start(plan, vec![input], options, &mut watcher, live, clocks)?;
    let mut results = run.results(plan, &watcher);
    results.summary.references = references;
    describe_live(&mut results);
    Ok(results)
}

/// Start of a run, in wall-clock and CPU time.
type Clocks = (Instant, ProcessTime);

/// A run that has ended.
struct Run<'a> {
    host: Host<'a>,
    left: RunOutput,
    cost: Cost,
    notes: Vec<String>,
}

impl<'a> Run<'a> {
    fn start(
        plan: &Plan,
        inputs: Vec<Input<'a>>,
        options: &Options,
        watcher: &mut Watcher<'_>,
        live: Option<Live<'_>>,
        clocks: Clocks,
    ) -> Result<Self, SimulationError> {
        let mut host = Host::new(plan, inputs, options.max_requests);
        if live.is_none()
            && let Some(fault) = host.untimed(plan).or_else(|| host.fault())
        {
            return Err(fault);
        }
        refuse(plan, options)?;
        let memory_note = require_memory(plan, options)?;
        let timeline = match &options.timeline {
            Some(options) => Some(Box::new(Timeline::create(plan, options)?)),
            None => None,
        };
        let notes = memory_note.into_iter().collect();
        let start = Start {
            plan,
            options,
            host: &mut host,
            watcher,
            clocks,
            timeline,
            live,
        };
        let Started { left, cost } = on_shape(plan, start)?;
        Ok(Self {
            host,
            left,
            cost,
            notes,
        })
    }

    /// Builds the results of the run.
    fn results(self, plan: &Plan, watcher: &Watcher<'_>) -> Results {
        let Self {
            host,
            left,
            cost,
            notes,
        } = self;
        let RunOutput {
            ended,
            resident_bytes,
            timeline,
            store,
        } = left;
        let mut error = ended.stop.as_ref().map(ToString::to_string);
        if error.is_none() {
            let counts = host.intakes.iter().map(Intake::counts);
            let served = counts.map(|counts| counts.issued() - counts.lost);
            assert!(
                store.recorder.completed().eq(served),
                "every request of every stream is served"
            );
        }
        let speed = cost.speed(ended.events.total(), resident_bytes);
        let issued = issued(&host);
        let mut drawn = None;
        if let Some(timeline) = timeline {
            let (note, written) = timeline.finish(outcome::first_arrival(&issued), ended.now);
            drawn = note;
            error = error.or(written.err().map(|error| error.to_string()));
        }
        let unwritten = watcher.checkpoints.as_ref().and_then(Checkpoints::note);
        let snapshot = Snapshot {
            plan: plan.clone(),
            ended,
            store,
            issued,
            contention: host.contention.window(),
            error,
            speed,
            notes: drawn.into_iter().chain(notes).chain(unwritten).collect(),
            references: Vec::new(),
        };
        snapshot.results()
    }
}

/// Task that returns the capabilities of a shape.
struct Capable;

impl OnShape for Capable {
    type Output = Capabilities;
    fn on<S: RunShape>(self) -> Capabilities {
        S::CAN
    }
}

/// Rejects options that the store does not support.
fn refuse(plan: &Plan, options: &Options) -> Result<(), SimulationError> {
    let all_ssds = matches!(plan.shape(), Shape::Ssd | Shape::Ssds);
    if all_ssds {
        return Ok(());
    }
    let can = on_shape(plan, Capable);
    let refused = [
        (
            options.prepared.is_some() && plan.own_ssds().is_empty(),
            "prepared states are not supported for",
            "--from",
        ),
        (
            options.buffer_policy.is_some() && !plan.has_buffer(),
            "custom replacement policies are not supported for",
            "the policy object",
        ),
        (
            options.verify && !can.verify,
            "verification is not supported for",
            "--verify",
        ),
    ];
    let store = can.name;
    match refused.iter().find(|(asked, _, _)| *asked) {
        None => Ok(()),
        Some((_, what, option)) => Err(SimulationError::Unsupported(format!(
            "{what} {store}; leave {option} out"
        ))),
    }
}

/// Preconditions the devices of a plan and saves their state. `command` is stored in the file for
/// later runs. If `spare_areas` is set, runs with power cuts can use the file. Returns the size of
/// the file in bytes, or `None` if the watch ended the preconditioning; no file is written then.
pub fn prepare(
    plan: &Plan,
    spare_areas: bool,
    path: &Path,
    command: &Value,
    watch: Watch<'_>,
) -> Result<Option<u64>, SimulationError> {
    if plan.own_ssds().is_empty() {
        return Err(SimulationError::Unsupported(
            "hard disks, RAM disks and flash caches start empty, so there is nothing to prepare; run them directly"
                .into(),
        ));
    }
    let options = Options {
        power_cut_every: spare_areas.then_some(1),
        ..Options::default()
    };
    require_memory(plan, &options)?;
    let mut ssds = pristine(plan, &options)?;
    let done = preconditioned(plan, &mut ssds, &mut Watcher::new(watch))?;
    if done.iter().any(|done| done.stopped) {
        return Ok(None);
    }
    let devices = (ssds.as_slice(), done.as_slice());
    Ok(Some(wordline_state::prepared::write(
        path,
        plan,
        spare_areas,
        command,
        devices,
    )?))
}

/// Returns a hash of everything that determines the results of a run, except its input.
fn identity(plan: &Plan, options: &Options) -> u64 {
    let mut hash = XxHash3_64::new();
    let kept = (options.requests, options.verify, options.max_requests);
    // The debug output contains every number of a plan.
    hash.write(format!("{plan:?} {kept:?} {:?}", options.power_cut_every).as_bytes());
    hash.finish()
}

/// Rejects a run whose memory exceeds the limits; returns a note if memory may run short.
fn require_memory(plan: &Plan, options: &Options) -> Result<Option<String>, SimulationError> {
    let estimate = estimate(plan, options.memory(plan));
    let limits = Limits::now();
    estimate.check(&limits)?;
    Ok(estimate.note(&limits))
}

#[cfg(test)]
mod tests {
    use super::event_loop::{LoopState, simulate};
    use super::power_cuts::PowerCuts;
    use super::watch::BETWEEN_REPORTS;
    use super::*;
    use crate::devices;
    use crate::observer::Observer;
    use wordline_config::load;
    use wordline_kernel::{Probe, Time};
    use wordline_observe::{Busy, Grid, Intervals};
    use wordline_recorder::Recorder;
    use wordline_ssd::Observation;
    use wordline_workload::generate::Generator;

    const INTERVALS: usize = 64;

    /// Probe that observes every completed bus grant or die occupation, and distributes its time
    /// over intervals.
    #[derive(serde::Serialize)]
    struct Observations {
        recorder: Recorder,
        buses: Vec<Intervals<Time>>,
        dies: Vec<Intervals<Time>>,
    }

    impl Observations {
        fn new(plan: &Plan) -> Self {
            let lanes = |lanes: u32| {
                let lane = || Intervals::new(Grid::growing(Time::from_us(1), INTERVALS));
                std::iter::repeat_with(lane).take(lanes as usize).collect()
            };
            Self {
                recorder: Recorder::new(plan, false),
                buses: lanes(plan.first().map_or(0, |ssd| ssd.dimensions.channels)),
                dies: lanes(plan.first().map_or(0, |ssd| ssd.device.part.layout.dies)),
            }
        }
    }

    impl Probe<Observation> for Observations {
        fn observe(&mut self, now: Time, observation: Observation) {
            self.recorder.forward(now, observation);
            let (lane, from) = match observation {
                Observation::Bus { channel, from, .. } => (&mut self.buses[channel as usize], from),
                Observation::Die { die, from, .. } => (&mut self.dies[die.index()], from),
                _ => return,
            };
            lane.span(from, now, |sum, part| *sum += part);
        }
    }

    impl Observer<Observation> for Observations {
        fn recorder(&self) -> &Recorder {
            &self.recorder
        }
        fn recorder_mut(&mut self) -> &mut Recorder {
            &mut self.recorder
        }
    }

    /// Runs a load with suspended operations, and with power cuts or an early interruption. Busy
    /// times read from buses and dies must equal the sum of the observed busy intervals.
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
        let mut observations = Observations::new(&plan);
        let mut go_on = |_: &Progress| power_cut_every.is_some();
        let mut watcher = Watcher::new(&mut go_on);
        watcher.last -= BETWEEN_REPORTS;
        let cuts = power_cut_every.map(|every| PowerCuts::new(&plan, every));
        let state = LoopState::start(&plan, &watcher, cuts);
        let ended = simulate(
            &mut ssds[0],
            &mut Host::new(&plan, vec![input], None),
            &mut observations,
            &mut watcher,
            state,
        );
        assert_eq!(ended.stop.is_some(), power_cut_every.is_none());
        let (record, _) = observations.recorder.finish(ended.now);
        assert_eq!(record.power.cuts > 10, power_cut_every.is_some());
        same(&record.channels, observations.buses, ended.now);
        same(&record.dies, observations.dies, ended.now);
    }

    fn same(read: &Busy, observations: Vec<Intervals<Time>>, end: Time) {
        assert_eq!(read.lanes(), observations.len());
        for (lane, mut observations) in observations.into_iter().enumerate() {
            observations.widen(read.grid().width());
            observations.close(end);
            let read = read.iter().map(|row| Time(row.busy[lane]));
            let observations: Vec<Time> = observations
                .iter()
                .map(|interval| *interval.value)
                .collect();
            assert_eq!(read.collect::<Vec<_>>(), observations, "lane {lane}");
        }
    }

    #[test]
    fn operations_interrupted_by_a_power_cut_do_not_count_as_busy_time() {
        compare(Some(40));
    }

    #[test]
    fn operations_interrupted_by_the_end_of_a_run_do_not_count_as_busy_time() {
        compare(None);
    }
}
