//! Resumes a run from its checkpoint.

use std::path::Path;

use wordline_config::Plan;

use super::checkpoint::{Before, Checkpoints, Parts};
use super::event_loop::{LoopState, simulate};
use super::intake::Input;
use super::issuer::{Host, HostState};
use super::shape::{OnShape, RunOutput, RunShape, on_shape, resident_bytes};
use super::snapshot::Cost;
use super::watch::Watcher;
use super::{Clocks, Options, Run, identity, require_memory};
use crate::error::SimulationError;
use wordline_state::{self as state, StateError, kind};

/// State of a run with events `E` and an observer `O`, as read from a file.
type RunState<E, O> = Parts<Before, LoopState<E>, HostState, O>;

/// A run to resume: inputs, options and watcher.
struct Resumed<'a, 'b, 'w> {
    plan: &'b Plan,
    inputs: Vec<Input<'a>>,
    options: &'b Options,
    path: &'b Path,
    watcher: &'b mut Watcher<'w>,
    clocks: Clocks,
}

impl<'a> Run<'a> {
    /// Resumes a run from a checkpoint that a run of the same plan and options wrote.
    pub(super) fn resume(
        plan: &Plan,
        inputs: Vec<Input<'a>>,
        options: &Options,
        path: &Path,
        watcher: &mut Watcher<'_>,
        clocks: Clocks,
    ) -> Result<Self, SimulationError> {
        let memory_note = require_memory(plan, options)?;
        let memory = resident_bytes();
        let run = Resumed {
            plan,
            inputs,
            options,
            path,
            watcher,
            clocks,
        };
        let (host, left, before) = on_shape(plan, run)?;
        Ok(Self {
            host,
            left,
            cost: Cost {
                spent: before.spent,
                clocks,
                memory,
            },
            notes: memory_note.into_iter().collect(),
        })
    }
}

impl<'a> OnShape for Resumed<'a, '_, '_> {
    type Output = Result<(Host<'a>, RunOutput, Before), SimulationError>;

    /// Restores the state and serves the remaining requests.
    fn on<S: RunShape>(self) -> Self::Output {
        let (state, mut store) = state::read(self.path, kind::RUN, |from| {
            let state: RunState<S::Event, S::Recorder> = from.take()?;
            Ok((state, S::take(from)?))
        })?;
        let RunState {
            before,
            position,
            host,
            mut observer,
        } = state;
        if before.run != identity(self.plan, self.options) {
            return Err(SimulationError::State(StateError::new(
                self.path,
                "belongs to a run with another configuration",
                "resume with the configuration of that run, or start a new run",
            )));
        }
        let mut host = Host::resume(self.plan, self.inputs, host)?;
        let checkpoint = self.options.checkpoint.as_ref();
        self.watcher.checkpoints =
            checkpoint.map(|options| Checkpoints::new(options, before.clone(), self.clocks));
        let ended = simulate(&mut store, &mut host, &mut observer, self.watcher, position);
        let left = RunOutput::new(ended, observer, None, &store, &before.preconditioned);
        Ok((host, left, before))
    }
}
