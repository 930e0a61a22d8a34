//! A die on its channel, and the bus of the channel.

use super::listen::ReadyOutcome;
use crate::Die;
use crate::arbitrate::Asking;
use crate::chain::{Chains, Step};
use crate::registers::{Confirm, Registers};
use crate::transaction::Operation;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use wordline_kernel::Time;

/// State of a die on its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum State {
    /// The die executes no chain; it may have a suspended one.
    Free,
    /// The die waits for the bus or holds it.
    OnBus,
    /// The die is busy.
    Busy,
    /// The die is suspending its operation.
    Stopping,
    /// The die is ready and signals it by its ready/busy pin.
    Reporting,
}

/// Remaining steps of a chain after the current one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Rest {
    /// Remaining steps. Count.
    pub(super) count: u32,
    /// All steps of the chain; empty if `operation` determines the last step.
    pub(super) steps: Vec<Step>,
    /// Operation that determines the last step if `steps` is empty.
    pub(super) operation: Operation,
}

impl Rest {
    pub(super) const NONE: Self = Self {
        count: 0,
        steps: Vec::new(),
        operation: Operation::Read,
    };
    /// Removes and returns the next step; there must be one.
    #[inline]
    pub(super) fn next(&mut self, chains: &Chains) -> Step {
        let at = self.steps.len().wrapping_sub(self.count as usize);
        self.count -= 1;
        match self.steps.get(at) {
            Some(step) => *step,
            None => chains.collect(self.operation),
        }
    }
    /// Shortens the chain: only a status read remains.
    #[cold]
    pub(super) fn end_early(&mut self) {
        self.steps.clear();
        self.operation = Operation::Program;
        self.count = 1;
    }
}

/// Suspended chain.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Suspended {
    pub(super) step: Step,
    pub(super) rest: Rest,
    pub(super) confirm: Confirm,
    pub(super) remaining: Time,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Lane<D> {
    /// The owner's per-die data.
    pub(super) own: D,
    pub(super) channel: u32,
    pub(super) state: State,
    /// Step that is on the bus or whose busy time is running.
    pub(super) step: Step,
    pub(super) rest: Rest,
    /// Registers of the die; they hold the end of the current busy time. Events at other times are
    /// stale.
    pub(super) registers: Registers,
    /// Whether a suspend command waits for the bus or is on it.
    pub(super) suspending: bool,
    pub(super) suspensions: u32,
    pub(super) suspended: Option<Box<Suspended>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Bus<B> {
    /// The owner's per-bus data.
    pub(super) own: B,
    pub(super) held: bool,
    /// Current bus holder, or the last one if the bus is free.
    pub(super) holder: Die,
    /// Whether the current grant suspends or resumes an operation.
    pub(super) urgent: bool,
    pub(super) granted: Time,
    /// Total duration of all grants that have ended.
    pub(super) busy: Time,
    pub(super) line: VecDeque<Asking>,
}

impl<D> Lane<D> {
    /// Loads the first step of a chain.
    #[inline]
    pub(super) fn begin_with(&mut self, step: Step) {
        debug_assert_eq!(self.state, State::Free, "a die has one chain at a time");
        self.step = step;
        if self.suspended.is_none() {
            self.suspensions = 0;
        }
    }
    /// Handles the end of a busy time other than that of the current step: either a suspension is
    /// complete, or the event is stale.
    #[cold]
    pub(super) fn stopped(&mut self, now: Time) -> ReadyOutcome {
        if self.registers.ready() != now || self.state != State::Stopping {
            return ReadyOutcome::Stale;
        }
        self.state = State::Free;
        ReadyOutcome::Suspended
    }
}

impl<B> Bus<B> {
    /// Queues the request of a die while the bus is held.
    pub(super) fn line_up(&mut self, now: Time, die: Die, step: &Step) {
        self.line.push_back(Asking {
            die,
            since: now,
            hold: step.bus,
            starts_array: step.array.is_some(),
            urgent: false,
        });
    }
    /// Cancels the suspend or resume command of a die if it still waits for the bus. Returns `true`
    /// if a command was cancelled.
    #[cold]
    pub(super) fn withdraw(&mut self, die: Die) -> bool {
        let before = self.line.len();
        self.line
            .retain(|asking| !(asking.urgent && asking.die == die));
        self.line.len() < before
    }
}

pub(super) fn urgent(die: Die, now: Time, hold: Time) -> Asking {
    Asking {
        die,
        since: now,
        hold,
        starts_array: false,
        urgent: true,
    }
}
