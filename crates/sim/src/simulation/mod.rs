//! From a plan and a source of requests to results.

mod contention;
mod event_loop;
mod host;
mod intake;
mod power_cuts;
mod prepared;
mod watch;

use self::event_loop::Stop;
use self::host::Host;
pub use self::intake::Input;
use self::intake::Intake;
use self::power_cuts::PowerCuts;
use self::prepared::{Left, PreparedRun, pristine, resident_bytes};
use self::watch::{BETWEEN_REPORTS, Watcher};
pub use self::watch::{Phase, Progress, Watch};
use crate::error::SimulationError;

use crate::chip_load::ChipLoads;
use crate::devices::{self};
use crate::memory::{self, estimate};
use crate::outcome::{self, Issued, Outcome, Speed};
use crate::record::Recorder;
use crate::results::Results;
use crate::timeline::{Timeline, TimelineOptions};
use cpu_time::ProcessTime;
use std::time::Instant;
use wordline_cache::replacement::foreign::Maker;
use wordline_config::Plan;
use wordline_device::Ssd;
use wordline_kernel::Time;
use wordline_memory::Limits;

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
    fn memory(&self, plan: &Plan) -> memory::Checks {
        memory::Checks {
            rows: self.requests.then(|| {
                let most = self.max_requests.unwrap_or(u64::MAX);
                memory::generated(plan).map_or(self.max_requests.unwrap_or(0), |all| all.min(most))
            }),
            verify: self.verify,
            power_cuts: self.power_cut_every.is_some(),
        }
    }
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
    let work = PreparedRun {
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
    let issued: Vec<Issued> = host.intakes.iter().map(Intake::issued_so_far).collect();
    let first_arrival = outcome::first_arrival(&issued);
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
        streams: issued,
        contention: host.contention.window(),
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

#[cfg(test)]
mod tests {
    use super::event_loop::simulate;
    use super::*;
    use crate::observer::Observer;
    use wordline_config::load;
    use wordline_config::plan::Replay;
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
                dies: lanes(plan.first().device.part.layout.dies),
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

    impl Observer<Observation> for Told {
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
