//! Specification of a run, and its execution.

use std::path::{Path, PathBuf};

use serde_json::Value;
use thiserror::Error;
use wordline_cache::replacement::foreign::Maker;
use wordline_workload::generate::{self, Generator};
use wordline_workload::{
    Decoded, Disk, Fit, InputFile, Recordings, Request, STANDARD_INPUT, Source, TimeOrder, Trace,
    TraceOptions, Volumes, WorkloadError,
};

use crate::error::SimulationError;
use crate::external_policy;
use crate::simulation::{
    self, CheckpointOptions, Clients, Input, Options, Phase, Progress, Watch, run, run_live,
};
use crate::timeline::TimelineOptions;
use wordline_config::plan::Replay;
use wordline_config::{ConfigError, Plan, load};
use wordline_kernel::Time;
use wordline_results::results::{Provenance, Results};
use wordline_results::summary::Reference;
use wordline_state::preparation_key;

/// Specification of a run.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // options that are independent of each other
pub struct RunSpec {
    /// Text of the device file.
    pub config: String,
    /// Name of the device file, for messages.
    pub config_name: String,
    /// Overrides as key and value.
    pub overrides: Vec<(String, String)>,
    /// Trace files, replayed one after another. Empty if the load of `[workload]` is generated.
    pub traces: Vec<PathBuf>,
    /// Trace files of streams, by name. A stream that the configuration does not declare is added.
    /// Files of a repeated name are replayed after the earlier ones.
    pub streams: Vec<(String, Vec<PathBuf>)>,
    /// Options for reading the trace.
    pub trace_options: TraceOptions,
    /// Seed of all random streams.
    pub seed: u64,
    /// Whether to record a row per request.
    pub requests: bool,
    /// Whether to verify every read.
    pub verify: bool,
    /// Maximum number of requests to simulate.
    pub max_requests: Option<u64>,
    /// Mean number of requests between random power cuts.
    pub power_cut_every: Option<u64>,
    /// Whether the clients of a live device may cut the power.
    pub power_cuts_on_demand: bool,
    /// Timeline to write, if any.
    pub timeline: Option<TimelineOptions>,
    /// Whether to run each stream alone afterwards, to measure how much the others slow it down.
    pub slowdown: bool,
    /// Factory of the replacement policies of the DRAM buffer, in place of `buffer.replacement`.
    pub buffer_policy: Option<Maker>,
    /// Options for checkpoints of the run.
    pub checkpoint: Option<CheckpointOptions>,
    /// Cache of decoded traces, shared between runs.
    pub decoded: Option<Decoded>,
    /// Prepared devices, in place of preconditioning.
    pub prepared: Option<PathBuf>,
    /// Checkpoint to resume.
    pub resume: Option<PathBuf>,
    /// Whether to call the watch after every event and request instead of about ten times a second.
    pub watch_events: bool,
}

/// Output of a run.
#[derive(Debug)]
pub struct Done {
    /// Results of the run.
    pub results: Results,
    /// Complete configuration, as TOML.
    pub resolved_toml: String,
}

/// Maximum number of requests of a trace that are read ahead before the run starts.
const HEAD: u64 = 1 << 16;

/// Error of a run that could not start.
#[derive(Debug, Error)]
pub enum JobError {
    /// The configuration is faulty.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The input is faulty.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// The run cannot be simulated.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// There is neither a trace nor a load.
    #[error(
        "{0}: the run has no input; name a trace, or add a [workload] table or [[streams]] to the device file"
    )]
    NoInput(String),
    /// There are both a trace and a load.
    #[error("{0}: both a trace and a [workload] table are given; leave one of them out")]
    TwoInputs(String),
    /// A trace is given without its stream, in a run whose streams have names.
    #[error(
        "{config}: the trace belongs to no stream; replace --trace with --stream NAME=FILE, where NAME is one of {names}"
    )]
    WhoseTrace {
        /// Name of the device file.
        config: String,
        /// Names of the streams.
        names: String,
    },
    /// A stream has no input.
    #[error(
        "{config}: streams[{place}] ({name}) has neither a trace nor a workload; name a trace (--stream {name}=FILE), or give it a workload table"
    )]
    StreamWithoutInput {
        /// Name of the device file.
        config: String,
        /// Index of the stream.
        place: usize,
        /// Name of the stream.
        name: String,
    },
    /// A stream has both a trace and a load.
    #[error(
        "{config}: streams[{place}].workload: stream {name} has both a workload and a trace; leave one of them out"
    )]
    StreamWithTwoInputs {
        /// Name of the device file.
        config: String,
        /// Index of the stream.
        place: usize,
        /// Name of the stream.
        name: String,
    },
    /// Slowdown is combined with power cuts.
    #[error(
        "{0}: --slowdown cannot be combined with --power-cut-every, because power cuts make the two runs differ; leave one of them out"
    )]
    SlowdownOfCuts(String),
    /// First-read layout is combined with power cuts.
    #[error(
        "{config}: power-cut recovery does not support first-read layout, which spare areas do not record; set precondition.layout to \"address\" or leave out {option}"
    )]
    FirstReadOfCuts {
        /// Name of the device file.
        config: String,
        /// Option that asks for power cuts.
        option: &'static str,
    },
    /// Slowdown is combined with a warm-up.
    #[error(
        "{0}: --slowdown compares whole runs and cannot be combined with a warm-up; leave out --slowdown or the warm-up ([observe])"
    )]
    SlowdownAfterWarmUp(String),
    /// Slowdown is requested with a single stream.
    #[error(
        "{0}: --slowdown compares streams, but the run has only one; add a second stream ([[streams]], --stream NAME=FILE), or leave --slowdown out"
    )]
    OneStream(String),
    /// The device file of a live run defines a load.
    #[error(
        "{config}: a live device gets its requests from clients; leave {table} out of the device file"
    )]
    LoadOfLive {
        /// Name of the device file.
        config: String,
        /// Table of the load.
        table: &'static str,
    },
    /// A live run has a device that needs requests in advance.
    #[error(
        "{0}: the GC schedule inspects requests before they arrive, which a live device cannot do; choose another ftl.gc.schedule"
    )]
    LookaheadOfLive(String),
    /// The server of a live run failed: its socket or port, its data file or its recorded trace.
    #[error("{0}")]
    Server(String),
    /// Checkpoints are requested in a run that cannot be resumed.
    #[error("--checkpoint-every: this run could not be resumed: {0}")]
    Unresumable(String),
    /// A buffer policy is passed for a device without a DRAM buffer.
    #[error(
        "{config}: the policy {policy} needs a DRAM buffer, and the device has none; set buffer.capacity_kib"
    )]
    NoBuffer {
        /// Name of the device file.
        config: String,
        /// Name of the policy.
        policy: String,
    },
}

/// Requests of a stream: generated, recorded, or none.
enum Feed {
    Load(Box<Generator>),
    Recording(Box<Trace>),
    Nothing,
}

impl Source for Feed {
    #[inline]
    fn next_request(&mut self) -> Result<Option<Request>, WorkloadError> {
        match self {
            Self::Load(generator) => generator.next_request(),
            Self::Recording(trace) => trace.next_request(),
            Self::Nothing => Ok(None),
        }
    }
    fn fraction(&self) -> Option<f64> {
        match self {
            Self::Load(generator) => generator.fraction(),
            Self::Recording(trace) => trace.fraction(),
            Self::Nothing => Some(1.0),
        }
    }
    fn timed(&self) -> bool {
        match self {
            Self::Load(generator) => generator.timed(),
            Self::Recording(trace) => trace.timed(),
            Self::Nothing => true,
        }
    }
    fn read_digest(&self) -> Option<u64> {
        match self {
            Self::Recording(trace) => Some(trace.digest()),
            Self::Load(_) | Self::Nothing => None,
        }
    }
    fn until(&self) -> Time {
        match self {
            Self::Load(generator) => generator.until(),
            Self::Recording(_) | Self::Nothing => Time::MAX,
        }
    }
    fn file(&self) -> u32 {
        match self {
            Self::Recording(trace) => trace.file(),
            Self::Load(_) | Self::Nothing => 0,
        }
    }
}

/// Input of a stream, and the rule by which its requests are issued.
struct StreamSource {
    feed: Feed,
    /// First byte of the stream's address range.
    start: u64,
    replay: Replay,
}

impl Source for StreamSource {
    fn next_request(&mut self) -> Result<Option<Request>, WorkloadError> {
        let mut next = self.feed.next_request();
        if let Ok(Some(request)) = &mut next {
            request.offset += self.start;
        }
        next
    }
    fn fraction(&self) -> Option<f64> {
        self.feed.fraction()
    }
    fn timed(&self) -> bool {
        self.feed.timed()
    }
    fn read_digest(&self) -> Option<u64> {
        self.feed.read_digest()
    }
    fn until(&self) -> Time {
        self.feed.until()
    }
    fn file(&self) -> u32 {
        self.feed.file()
    }
}

impl RunSpec {
    /// Runs the specification. `watch` receives the progress and may end the run early.
    pub fn run(&self, watch: Watch<'_>) -> Result<Done, JobError> {
        self.run_of(&Recordings::default(), watch)
    }

    /// Preconditions the devices and saves their state (see [`simulation::prepare`]).
    pub fn prepare(
        &self,
        path: &Path,
        spare_areas: bool,
        command: &Value,
        watch: Watch<'_>,
    ) -> Result<Option<u64>, JobError> {
        let plan = self.plan()?;
        Ok(simulation::prepare(
            &plan,
            spare_areas,
            path,
            command,
            watch,
        )?)
    }
    /// Returns a key of the preconditioned devices: specifications with equal keys have equal
    /// devices after preconditioning. `None` if there is nothing to prepare.
    pub fn preparation(&self) -> Result<Option<String>, JobError> {
        let plan = self.plan()?;
        let is_any = plan.ssds().any(|ssd| ssd.precondition.fill_pages > 0);
        Ok(is_any.then(|| preparation_key(&plan, self.power_cut_every.is_some())))
    }
    fn plan(&self) -> Result<Plan, JobError> {
        let loaded = load(&self.config, &self.config_name, &self.overrides)?;
        let given = self.streams.iter().map(|(name, _)| name.as_str());
        Ok(loaded.with_streams(given)?.plan(self.seed)?)
    }

    /// Like [`RunSpec::run`], with traces read through `recordings`, so that a signal can stop
    /// reading. A run with checkpoints ignores `recordings`.
    pub fn run_of(&self, recordings: &Recordings, watch: Watch<'_>) -> Result<Done, JobError> {
        let config = match &self.buffer_policy {
            Some(_) => &external_policy::unnamed(&self.config),
            None => &self.config,
        };
        let loaded = load(config, &self.config_name, &self.overrides)?;
        let given = self.streams.iter().map(|(name, _)| name.as_str());
        let loaded = loaded.with_streams(given)?;
        let plan = loaded.plan(self.seed)?;
        self.require_meaning(&plan)?;
        let whole = Recordings::default();
        let recordings = if self.checkpoint.is_some() {
            self.require_resumable()?;
            // A run with checkpoints is interrupted between two events, where its state can be
            // written, and not while it reads a trace.
            &whole
        } else {
            recordings
        };
        let mut source = self.feeds(&plan, recordings)?;
        let mut results = run(&plan, inputs(&mut source), &self.options(), watch)?;
        results.summary.references = Reference::of(&loaded.config);
        results.describe_input(
            source
                .iter()
                .map(|source| source.feed.provenance())
                .collect(),
        );
        if self.slowdown {
            self.compare(&plan, recordings, &mut results, watch)?;
        }
        let mut resolved_toml = loaded.resolved_toml;
        if let Some(maker) = &self.buffer_policy {
            resolved_toml = external_policy::stated(&resolved_toml, maker.name());
            results
                .summary
                .notes
                .push(external_policy::note(maker.name()));
        }
        Ok(Done {
            results,
            resolved_toml,
        })
    }

    /// Serves the requests of clients instead of traces or a generated load (see
    /// [`simulation::run_live`]). `connect` creates the clients for the plan of the device.
    pub fn serve<C: Clients>(
        &self,
        connect: impl FnOnce(&Plan) -> Result<C, JobError>,
        watch: Watch<'_>,
    ) -> Result<(Done, C), JobError> {
        let loaded = load(&self.config, &self.config_name, &self.overrides)?;
        let plan = loaded.plan(self.seed)?;
        let refused = [
            (!plan.streams.is_empty(), "[[streams]]"),
            (plan.workload.is_some(), "[workload]"),
        ];
        if let Some((_, table)) = refused.iter().find(|(is_given, _)| *is_given) {
            return Err(JobError::LoadOfLive {
                config: self.config_name.clone(),
                table,
            });
        }
        let mut schedules = plan.ssds().map(|ssd| &ssd.device.ftl.config.gc.schedule);
        if schedules.any(|schedule| {
            let attention = schedule.policy().attention();
            attention.is_some_and(|attention| attention.lookahead_depth > 0)
        }) {
            return Err(JobError::LookaheadOfLive(self.config_name.clone()));
        }
        self.require_recoverable(&plan)?;
        let mut clients = connect(&plan)?;
        let references = Reference::of(&loaded.config);
        let results = run_live(&plan, &mut clients, references, &self.options(), watch)?;
        let resolved_toml = loaded.resolved_toml;
        Ok((
            Done {
                results,
                resolved_toml,
            },
            clients,
        ))
    }

    /// Rejects power cuts on a device that could not recover from them.
    fn require_recoverable(&self, plan: &Plan) -> Result<(), JobError> {
        let option = match (self.power_cut_every, self.power_cuts_on_demand) {
            (Some(_), _) => "--power-cut-every",
            (None, true) => "--power-cuts",
            (None, false) => return Ok(()),
        };
        if plan.ssds().any(|ssd| ssd.device.first_read_pages > 0) {
            let config = self.config_name.clone();
            return Err(JobError::FirstReadOfCuts { config, option });
        }
        Ok(())
    }

    /// Rejects options that do not apply to the device, or that exclude each other.
    fn require_meaning(&self, plan: &Plan) -> Result<(), JobError> {
        if self.slowdown && self.power_cut_every.is_some() {
            return Err(JobError::SlowdownOfCuts(self.config_name.clone()));
        }
        self.require_recoverable(plan)?;
        if self.slowdown && plan.observe.warm_up.is_some() {
            return Err(JobError::SlowdownAfterWarmUp(self.config_name.clone()));
        }
        if self.slowdown && plan.streams.len() < 2 {
            return Err(JobError::OneStream(self.config_name.clone()));
        }
        if let Some(maker) = &self.buffer_policy
            && !plan.has_buffer()
        {
            return Err(JobError::NoBuffer {
                config: self.config_name.clone(),
                policy: maker.name().to_owned(),
            });
        }
        Ok(())
    }

    /// Returns a key of the traces of a run. Runs with equal keys read the same requests from their
    /// traces, or reject the same request or the same option.
    pub fn input_key(&self) -> Result<String, JobError> {
        let plan = self.plan()?;
        let device = (plan.user_bytes(), plan.volumes(), plan.replay);
        let load = (&plan.workload, &plan.streams);
        let asked = (&self.traces, &self.streams, &self.trace_options);
        let refusal = self
            .require_meaning(&plan)
            .err()
            .map(|error| error.to_string());
        let options = (self.max_requests, refusal);
        Ok(format!(
            "{:?}",
            (&self.config_name, device, load, asked, options)
        ))
    }

    /// Reads each trace at least as far as a run would, without simulating. Fails if an option, the
    /// configuration or a trace is faulty, or if a trace does not fit the device.
    pub fn check_input(&self, recordings: &Recordings) -> Result<(), JobError> {
        let plan = self.plan()?;
        self.require_meaning(&plan)?;
        for source in self.feeds(&plan, recordings)? {
            let Feed::Recording(mut trace) = source.feed else {
                continue;
            };
            let mut left = self.max_requests.unwrap_or(u64::MAX);
            while left > 0 && trace.next_request()?.is_some() {
                left -= 1;
            }
        }
        Ok(())
    }

    /// Runs each stream alone, with the requests that it issued together with the others.
    fn compare(
        &self,
        plan: &Plan,
        recordings: &Recordings,
        results: &mut Results,
        watch: Watch<'_>,
    ) -> Result<(), JobError> {
        let mut alone = |progress: &Progress| {
            let phase = match progress.phase {
                Phase::Run => Phase::Alone,
                phase => phase,
            };
            watch(&Progress { phase, ..*progress })
        };
        let issued: Vec<u64> = results.issued().collect();
        for (place, requests) in issued.into_iter().enumerate() {
            if results.summary.partial {
                break;
            }
            if requests == 0 {
                continue;
            }
            let mut source = self.feeds(plan, recordings)?;
            for (other, source) in source.iter_mut().enumerate() {
                if other != place {
                    source.feed = Feed::Nothing;
                }
            }
            let options = Options {
                max_requests: Some(requests),
                buffer_policy: self.buffer_policy.clone(),
                ..Options::default()
            };
            let single = run(plan, inputs(&mut source), &options, &mut alone)?;
            results.compare(place, &single);
        }
        results.judge();
        Ok(())
    }

    fn feeds(&self, plan: &Plan, recordings: &Recordings) -> Result<Vec<StreamSource>, JobError> {
        let config = || self.config_name.clone();
        if plan.streams.is_empty() {
            let source = match (&plan.workload, self.traces.is_empty()) {
                (None, true) => return Err(JobError::NoInput(config())),
                (Some(_), false) => return Err(JobError::TwoInputs(config())),
                (Some(load), true) => generated(load, plan, None, self.seed)?,
                (None, false) => {
                    self.recorded(recordings, &self.traces, plan, None, plan.replay)?
                }
            };
            return Ok(vec![source]);
        }
        if !self.traces.is_empty() {
            let names: Vec<&str> = plan
                .streams
                .iter()
                .map(|stream| stream.name.as_str())
                .collect();
            return Err(JobError::WhoseTrace {
                config: config(),
                names: names.join(", "),
            });
        }
        let streams = plan.streams.iter().enumerate();
        streams
            .map(|(place, stream)| {
                let traces = self.traces_of(&stream.name);
                let (config, name) = (config(), stream.name.clone());
                match (&stream.workload, traces.is_empty()) {
                    (None, true) => Err(JobError::StreamWithoutInput {
                        config,
                        place,
                        name,
                    }),
                    (Some(_), false) => Err(JobError::StreamWithTwoInputs {
                        config,
                        place,
                        name,
                    }),
                    (Some(load), true) => Ok(generated(load, plan, stream.disk, stream.seed)?),
                    (None, false) => {
                        Ok(self.recorded(recordings, &traces, plan, stream.disk, stream.replay)?)
                    }
                }
            })
            .collect()
    }

    fn traces_of(&self, stream: &str) -> Vec<PathBuf> {
        let own = self.streams.iter().filter(|(name, _)| name == stream);
        own.flat_map(|(_, traces)| traces.iter().cloned()).collect()
    }

    fn recorded(
        &self,
        recordings: &Recordings,
        traces: &[PathBuf],
        plan: &Plan,
        disk: Option<Disk>,
        replay: Replay,
    ) -> Result<StreamSource, WorkloadError> {
        let mut options = self.trace_options.clone();
        match (replay, options.time_order) {
            (Replay::ClosedLoop { .. }, TimeOrder::Error) => options.time_order = TimeOrder::File,
            (Replay::OpenLoop { .. } | Replay::ThinkTime { .. }, TimeOrder::File) => {
                return Err(open_loop_of_files(traces));
            }
            _ => {}
        }
        options.think_times = matches!(replay, Replay::ThinkTime { .. });
        options.capacity_bytes = Some(disk.map_or(plan.user_bytes(), |disk| disk.bytes));
        if disk.is_none() {
            options.disks = plan.volumes().to_vec();
        }
        let trace = self.opened(recordings, traces, &options)?;
        let feed = Feed::Recording(Box::new(trace));
        let start = disk.map_or(0, |disk| disk.start);
        Ok(StreamSource {
            feed,
            start,
            replay,
        })
    }

    /// Opens a trace and reads its head, so that most traces that do not fit the device are
    /// rejected before the simulation starts. With options that need the highest address, the whole
    /// trace has been read already.
    fn opened(
        &self,
        recordings: &Recordings,
        traces: &[PathBuf],
        options: &TraceOptions,
    ) -> Result<Trace, WorkloadError> {
        if let Some(decoded) = &self.decoded
            && let Some(trace) = decoded.open(recordings, traces, options)?
        {
            return Ok(trace);
        }
        let trace = Trace::of(recordings, traces, options)?;
        if options.volumes == Volumes::Stack || options.fit == Fit::Scale {
            return Ok(trace);
        }
        trace.read_ahead(self.max_requests.unwrap_or(HEAD).min(HEAD))
    }

    fn options(&self) -> Options {
        Options {
            requests: self.requests,
            verify: self.verify,
            max_requests: self.max_requests,
            power_cut_every: self.power_cut_every,
            power_cuts_on_demand: self.power_cuts_on_demand,
            timeline: self.timeline.clone(),
            buffer_policy: self.buffer_policy.clone(),
            checkpoint: self.checkpoint.clone(),
            prepared: self.prepared.clone(),
            resume: self.resume.clone(),
            watch_events: self.watch_events,
        }
    }

    /// Rejects checkpoints of a run that could not resume from them.
    fn require_resumable(&self) -> Result<(), JobError> {
        let unable = |reason: String| Err(JobError::Unresumable(reason));
        if self.timeline.is_some() {
            return unable("a timeline is written during the run; leave out --timeline".into());
        }
        if let Some(maker) = &self.buffer_policy {
            let name = maker.name();
            return unable(format!(
                "the state of the policy {name} cannot be saved; name a built-in policy, or leave out --checkpoint-every"
            ));
        }
        let streams = self.streams.iter().flat_map(|(_, traces)| traces);
        let mut traces = self.traces.iter().chain(streams);
        match traces.find(|path| !path.is_file()) {
            Some(path) if path.exists() || path == Path::new(STANDARD_INPUT) => unable(format!(
                "{} cannot be read a second time; save it to a file",
                path.display()
            )),
            _ => Ok(()),
        }
    }
}

/// Returns the error of a run that issues requests by time stamp, but reads its traces in file
/// order.
fn open_loop_of_files(traces: &[PathBuf]) -> WorkloadError {
    let path = traces.first().map_or(Path::new("trace"), PathBuf::as_path);
    WorkloadError::new(
        path,
        "requests are issued by time stamp, and --time-order file ignores time stamps",
        "pass --time-order sort or clamp, or replay the trace in a closed loop: --set replay.mode.closed-loop.queue_depth=32",
    )
}

fn generated(
    load: &generate::Config,
    plan: &Plan,
    disk: Option<Disk>,
    seed: u64,
) -> Result<StreamSource, WorkloadError> {
    let bytes = disk.map_or(plan.user_bytes(), |disk| disk.bytes);
    let generator = Generator::new(load, bytes, seed)?;
    let replay = match generator.queue_depth() {
        Some(queue_depth) => Replay::ClosedLoop { queue_depth },
        None => Replay::OpenLoop { time_scale: 1.0 },
    };
    let feed = Feed::Load(Box::new(generator));
    let start = disk.map_or(0, |disk| disk.start);
    Ok(StreamSource {
        feed,
        start,
        replay,
    })
}

fn inputs(source: &mut [StreamSource]) -> Vec<Input<'_>> {
    source
        .iter_mut()
        .map(|source| Input {
            replay: source.replay,
            source,
        })
        .collect()
}

impl Feed {
    fn provenance(&self) -> Provenance {
        let Self::Recording(trace) = self else {
            return Provenance {
                kind: "generated",
                ..Provenance::default()
            };
        };
        let counts = trace.counts();
        let files = trace.files().iter().map(InputFile::of);
        Provenance {
            kind: "trace",
            files: files.collect(),
            digest: Some(format!("{:016x}", trace.digest())),
            lines_skipped: counts.lines_skipped,
            requests_adjusted: counts.adjusted(),
            notes: trace.notes(),
        }
    }
}
