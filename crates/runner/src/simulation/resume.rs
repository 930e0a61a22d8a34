//! A run that goes on from its written state.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use wordline_array::Array;
use wordline_block::BlockDevice;
use wordline_config::Plan;
use wordline_config::plan::Shape;
use wordline_ftl::Map;
use wordline_ssd::Ssd;
use wordline_ssd::precondition::Preconditioned;

use super::checkpoint::{Before, Checkpoints, RunState};
use super::event_loop::{LoopEnd, simulate};
use super::intake::Input;
use super::issuer::Host;
use super::prepared::{RunOutput, resident_bytes};
use super::watch::Watcher;
use super::{Clocks, Options, Run, cached, disks, identity, require_memory};
use crate::error::SimulationError;
use crate::observer::{Observer, Several};
use crate::state::{self, StateError, kind};
use wordline_recorder::Recorder;

/// A run that is to go on: its inputs, what was asked for, and who hears of it.
struct Resumed<'a, 'b, 'w> {
    plan: &'b Plan,
    inputs: Vec<Input<'a>>,
    options: &'b Options,
    path: &'b Path,
    watcher: &'b mut Watcher<'w>,
    clocks: Clocks,
}

impl<'a> Run<'a> {
    /// Goes on from the state in a file, which a run of the same plan and options has written.
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
        let (host, left, before) = match (plan.shape(), plan.array()) {
            (Shape::CachedDisks, _) => run.go_on(cached::left),
            (Shape::Disks, _) => run.go_on(disks::left),
            (Shape::Ssd, _) => run.go_on(|ended, recorder: Recorder, ssd: &Ssd<Map>, done| {
                RunOutput::of_one(ended, recorder, ssd, done)
            }),
            (Shape::Ssds, Some(array)) if !array.is_nested() => {
                run.go_on(|ended, heard: Several, array: &Array<Ssd<Map>>, done| {
                    RunOutput::of_several(ended, heard, array.members(), done)
                })
            }
            (Shape::Mixed, _) if plan.host_side.is_some() => run.go_on(RunOutput::of_host),
            (Shape::Ssds | Shape::Mixed, _) => run.go_on(RunOutput::of_store),
        }?;
        Ok(Self {
            host,
            left,
            spent: before.spent,
            memory,
            notes: memory_note.into_iter().collect(),
        })
    }
}

impl<'a> Resumed<'a, '_, '_> {
    /// Goes on with a store and its observer to the end.
    fn go_on<S, O>(
        self,
        left: impl FnOnce(LoopEnd, O, &S, &[Preconditioned]) -> RunOutput,
    ) -> Result<(Host<'a>, RunOutput, Before), SimulationError>
    where
        S: BlockDevice<Event: Copy + Default + Serialize + DeserializeOwned>
            + Serialize
            + DeserializeOwned,
        O: Observer<S::Observation> + Serialize + DeserializeOwned,
    {
        let (_, state) = state::read::<RunState<S, S::Event, O>>(self.path, kind::RUN)?;
        let RunState {
            before,
            position,
            host,
            mut observer,
            mut store,
        } = state;
        if before.run != identity(self.plan, self.options) {
            return Err(SimulationError::State(StateError::new(
                self.path,
                "is of a run with another configuration",
                "go on with the configuration that it was started with, or start the run anew",
            )));
        }
        let mut host = Host::resume(self.plan, self.inputs, host)?;
        let checkpoint = self.options.checkpoint.as_ref();
        self.watcher.checkpoints =
            checkpoint.map(|options| Checkpoints::new(options, before.clone(), self.clocks));
        let ended = simulate(&mut store, &mut host, &mut observer, self.watcher, position);
        let left = left(ended, observer, &store, &before.preconditioned);
        Ok((host, left, before))
    }
}
