//! The state of a run, written as it goes, and read to go on.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wordline_ssd::precondition::Preconditioned;

use super::event_loop::LoopState;
use super::issuer::HostState;
use wordline_state::{self as state, Kept, StateError, kind};

/// The state of a run is written from time to time, and when the user ends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointOptions {
    /// The file; a state that is there is replaced.
    pub path: PathBuf,
    /// Time between two states.
    pub every: Duration,
    /// What stands in the file for those who go on: how the run was asked for.
    pub command: Value,
}

/// Time that a run has taken so far, those before it included.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Spent {
    pub(super) wall: Duration,
    pub(super) cpu: Duration,
    pub(super) precondition_cpu: Duration,
}

/// A state of a run. It is written from references and read as values, and both are this structure: the file has no names, only
/// the order of the fields.
#[derive(Serialize, Deserialize)]
pub(super) struct Parts<Past, Loop, Host, Observer> {
    /// What was done before it.
    pub(super) before: Past,
    /// Where the loop is.
    pub(super) position: Loop,
    /// Where the host is.
    pub(super) host: Host,
    pub(super) observer: Observer,
}

/// A state of a run with events `E` that `O` observes, as it is read.
pub(super) type RunState<E, O> = Parts<Before, LoopState<E>, HostState, O>;

/// What is known of a run beside what changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Before {
    /// Hash of what decides its results: the configuration as resolved, the seed, what is recorded.
    pub(super) run: u64,
    pub(super) preconditioned: Vec<Preconditioned>,
    pub(super) spent: Spent,
}

/// Writes states.
pub(super) struct Checkpoints {
    options: CheckpointOptions,
    last: Instant,
    before: Before,
    wall: Instant,
    cpu: ProcessTime,
    /// Why the newest one could not be written.
    fault: Option<StateError>,
}

impl Checkpoints {
    /// Of a run for which time was spent `before` these clocks.
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
    /// That the newest state could not be written, if so.
    pub(super) fn note(&self) -> Option<String> {
        let fault = self.fault.as_ref()?;
        Some(format!(
            "The state of the run could not be written: {fault}."
        ))
    }
    /// Writes a state. If that fails the run goes on, and the state before stays.
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
