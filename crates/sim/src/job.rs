//! One run, from what a user says to results.

use std::path::PathBuf;

use thiserror::Error;
use wordline_workload::generate::Generator;
use wordline_workload::{Fit, Source, Trace, TraceOptions, Volumes, WorkloadError};

use crate::config::plan::Replay;
use crate::config::{ConfigError, Plan, load};
use crate::results::Results;
use crate::simulation::{Options, SimulationError, Watch, run};
use crate::summary::{InputFile, grouped};
use crate::timeline::TimelineOptions;

/// What a user says of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Job {
    /// The device file.
    pub config: String,
    /// Its name, for messages.
    pub config_name: String,
    /// Overrides, key and value.
    pub overrides: Vec<(String, String)>,
    /// The trace files, played one after the other; none to generate the load of `[workload]`.
    pub traces: Vec<PathBuf>,
    /// How the trace is read.
    pub trace_options: TraceOptions,
    /// Seed of all random streams.
    pub seed: u64,
    /// Whether to keep the rows of single requests.
    pub requests: bool,
    /// Whether every read is checked.
    pub verify: bool,
    /// Requests to simulate at most.
    pub max_requests: Option<u64>,
    /// The timeline to write, if any.
    pub timeline: Option<TimelineOptions>,
}

/// What a run leaves.
#[derive(Debug)]
pub struct Done {
    /// The results.
    pub results: Results,
    /// The configuration, complete.
    pub resolved_toml: String,
}

/// Requests of a trace that are read before a run starts.
const HEAD: u64 = 1 << 16;

/// A run that could not start.
#[derive(Debug, Error)]
pub enum JobError {
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The input is wrong.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// It cannot be simulated.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// Neither a trace nor a load.
    #[error(
        "{0}: there is nothing to run: name a trace, or give the device file a [workload] table"
    )]
    NoInput(String),
    /// Both a trace and a load.
    #[error("{0}: both a trace and a [workload] table are given; leave one out")]
    TwoInputs(String),
}

impl Job {
    /// Runs it. `watch` hears how far it has come and may end it early.
    pub fn run(&self, watch: Watch<'_>) -> Result<Done, JobError> {
        let loaded = load(&self.config, &self.config_name, &self.overrides)?;
        let plan = loaded.plan(self.seed)?;
        let results = match (&plan.workload, self.traces.is_empty()) {
            (None, true) => return Err(JobError::NoInput(self.config_name.clone())),
            (Some(_), false) => return Err(JobError::TwoInputs(self.config_name.clone())),
            (Some(workload), true) => {
                let mut generator = Generator::new(workload, plan.user_bytes(), self.seed)?;
                let replay = match generator.queue_depth() {
                    Some(queue_depth) => Replay::ClosedLoop { queue_depth },
                    None => Replay::OpenLoop { time_scale: 1.0 },
                };
                let mut results = self.simulate(&plan, &mut generator, replay, watch)?;
                results.describe_input(|input, _| input.kind = "generated");
                results
            }
            (None, false) => {
                let mut options = self.trace_options.clone();
                options.capacity_bytes = Some(plan.user_bytes());
                self.check_head(&options)?;
                let mut trace = Trace::open(&self.traces, &options)?;
                let mut results = self.simulate(&plan, &mut trace, plan.replay, watch)?;
                describe_trace(&mut results, &trace);
                results
            }
        };
        Ok(Done {
            results,
            resolved_toml: loaded.resolved_toml,
        })
    }

    /// Reads the head of the trace once more than needed: most traces that do not fit say so there,
    /// and nothing has been simulated yet. Options that look for the highest address have read all
    /// of it anyway.
    fn check_head(&self, options: &TraceOptions) -> Result<(), WorkloadError> {
        if options.volumes == Volumes::Stack || options.fit == Fit::Scale {
            return Ok(());
        }
        let mut head = Trace::open(&self.traces, options)?;
        for _ in 0..self.max_requests.unwrap_or(HEAD).min(HEAD) {
            if head.next_request()?.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn simulate(
        &self,
        plan: &Plan,
        source: &mut dyn Source,
        replay: Replay,
        watch: Watch<'_>,
    ) -> Result<Results, SimulationError> {
        let options = Options {
            requests: self.requests,
            verify: self.verify,
            max_requests: self.max_requests,
            timeline: self.timeline.clone(),
        };
        run(plan, source, replay, &options, watch)
    }
}

fn describe_trace(results: &mut Results, trace: &Trace) {
    let counts = trace.counts();
    results.describe_input(|input, notes| {
        input.kind = "trace";
        input.files = trace
            .files()
            .iter()
            .map(|file| InputFile {
                path: file.path.display().to_string(),
                format: file.format.name().to_owned(),
            })
            .collect();
        input.digest = Some(format!("{:016x}", trace.digest()));
        input.lines_skipped = counts.lines_skipped;
        input.requests_adjusted = counts.adjusted();
        if let Some(first) = trace.first_skipped() {
            notes.push(format!(
                "{} bad lines were skipped; the first: {first}",
                counts.lines_skipped
            ));
        }
        for (count, what) in [
            (
                counts.times_clamped,
                "requests were earlier than the one before and got its time",
            ),
            (
                counts.times_sorted,
                "requests were out of order and were sorted by time",
            ),
            (counts.expanded, "requests were expanded to whole sectors"),
            (
                counts.wrapped,
                "requests beyond the device's end were wrapped around",
            ),
            (
                counts.scaled,
                "requests were scaled to the device's capacity",
            ),
            (
                counts.other_volumes,
                "requests to other volumes were left out",
            ),
        ] {
            if count > 0 {
                notes.push(format!("{} {what}.", grouped(count)));
            }
        }
    });
}
