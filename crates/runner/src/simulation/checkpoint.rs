//! Checkpoints: the state of a run, written during the run and read to resume it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wordline_ftl::precondition::Preconditioned;

use wordline_state::{self as state, Kept, StateError, kind};

/// Options for checkpoints, which are written at intervals and when the user interrupts the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointOptions {
    /// Path of the file; an existing checkpoint is replaced.
    pub path: PathBuf,
    /// Wall-clock time between consecutive checkpoints.
    pub every: Duration,
    /// Command of the run, stored in the file for a later resume.
    pub command: Value,
}

/// Time that a run has taken so far, including the time before it was resumed.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Spent {
    pub(super) wall: Duration,
    pub(super) cpu: Duration,
    pub(super) precondition_cpu: Duration,
}

/// State of a run. Writing and reading use this one structure with different type parameters,
/// because the file has no field names, only the order of the fields.
#[derive(Serialize, Deserialize)]
pub(super) struct Parts<Past, Loop, Host, Observer> {
    /// State before the loop.
    pub(super) before: Past,
    /// State of the loop.
    pub(super) position: Loop,
    /// State of the host.
    pub(super) host: Host,
    pub(super) observer: Observer,
}

/// State of a run before its event loop, and the time spent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Before {
    /// Hash of everything that determines the results except the input. It covers the plan with its
    /// seeds, what is recorded and verified, the limit of requests, and the rate of power cuts.
    pub(super) run: u64,
    pub(super) preconditioned: Vec<Preconditioned>,
    pub(super) spent: Spent,
}

/// Writer of checkpoints.
pub(super) struct Checkpoints {
    options: CheckpointOptions,
    last: Instant,
    before: Before,
    wall: Instant,
    cpu: ProcessTime,
    /// Error of the newest checkpoint, if it could not be written.
    fault: Option<StateError>,
}

impl Checkpoints {
    /// Creates the writer of a run. `before` contains the time that the run had taken when `wall`
    /// and `cpu` started.
    pub(super) fn new(
        options: &CheckpointOptions,
        before: Before,
        (wall, cpu): (Instant, ProcessTime),
    ) -> Self {
        Self {
            options: options.clone(),
            last: Instant::now(),
            before,
            wall,
            cpu,
            fault: None,
        }
    }
    pub(super) fn is_due(&self) -> bool {
        self.last.elapsed() >= self.options.every
    }
    /// Returns a note if the newest checkpoint could not be written.
    pub(super) fn note(&self) -> Option<String> {
        let fault = self.fault.as_ref()?;
        Some(format!(
            "The newest checkpoint could not be written: {fault}."
        ))
    }
    /// Writes a checkpoint. If that fails, the previous checkpoint stays, and the results get a
    /// note unless a later one is written.
    pub(super) fn write(
        &mut self,
        position: impl Serialize,
        host: impl Serialize,
        observer: impl Serialize,
        store: &impl Kept,
    ) {
        let mut before = self.before.clone();
        before.spent.wall += self.wall.elapsed();
        before.spent.cpu += self.cpu.elapsed();
        let state = Parts {
            before,
            position,
            host,
            observer,
        };
        let CheckpointOptions { path, command, .. } = &self.options;
        let written = state::write(path, kind::RUN, command.clone(), &|to| {
            to.put(&state)?;
            store.put(to)
        });
        self.fault = written.err();
        self.last = Instant::now();
    }
}
