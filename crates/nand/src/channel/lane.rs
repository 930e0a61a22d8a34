//! A die on its channel, and the bus.

use super::listen::ReadyOutcome;
use crate::Die;
use crate::arbitrate::Asking;
use crate::chain::{Chains, Step};
use crate::registers::{Confirm, Registers};
use crate::transaction::Operation;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use wordline_kernel::Time;

/// What a die is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum State {
    /// No chain.
    Free,
    /// In line for the bus, or on it.
    OnBus,
    /// Waits to be ready.
    Busy,
    /// Suspends its operation.
    Stopping,
    /// Is ready, as its pin tells.
    Reporting,
}

/// What follows the present step of a chain.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Rest {
    /// How many steps.
    pub(super) count: u32,
    /// The whole chain; empty if it is that of one page or block.
    pub(super) steps: Vec<Step>,
    /// Of one page or block: what is done, as its last step says.
    pub(super) operation: Operation,
}

impl Rest {
    pub(super) const NONE: Self = Self {
        count: 0,
        steps: Vec::new(),
        operation: Operation::Read,
    };
    /// The next step; there is one.
    #[inline]
    pub(super) fn next(&mut self, chains: &Chains) -> Step {
        let at = self.steps.len().wrapping_sub(self.count as usize);
        self.count -= 1;
        match self.steps.get(at) {
            Some(step) => *step,
            None => chains.collect(self.operation),
        }
    }
    /// The chain ends with a status read.
    #[cold]
    pub(super) fn end_early(&mut self) {
        self.steps.clear();
        self.operation = Operation::Program;
        self.count = 1;
    }
}

/// A chain suspended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Suspended {
    pub(super) step: Step,
    pub(super) rest: Rest,
    pub(super) confirm: Confirm,
    pub(super) remaining: Time,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Lane<D> {
    /// The owner's.
    pub(super) own: D,
    pub(super) channel: u32,
    pub(super) state: State,
    /// The step on the bus, or whose busy time runs.
    pub(super) step: Step,
    pub(super) rest: Rest,
    /// They say when the present busy time ends; events of other ends are stale.
    pub(super) registers: Registers,
    /// Whether a suspend command is asked for or on its way.
    pub(super) suspending: bool,
    pub(super) suspensions: u32,
    pub(super) suspended: Option<Box<Suspended>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Bus<B> {
    /// The owner's.
    pub(super) own: B,
    pub(super) held: bool,
    /// Who holds the bus, or held it last.
    pub(super) holder: Die,
    /// Whether the hold suspends or resumes an operation.
    pub(super) urgent: bool,
    pub(super) granted: Time,
    /// How long it was held, all holds together that are over.
    pub(super) busy: Time,
    pub(super) line: VecDeque<Asking>,
}

impl<D> Lane<D> {
    /// The first step of a chain is there, and the rest of it.
    #[inline]
    pub(super) fn begin_with(&mut self, step: Step) {
        debug_assert_eq!(self.state, State::Free, "a die has one chain at a time");
        self.step = step;
        if self.suspended.is_none() {
            self.suspensions = 0;
        }
    }
    /// A busy time ends that is not that of a step: the operation is suspended, or the event stale.
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
    /// A die asks while the bus is held.
    pub(super) fn line_up(&mut self, now: Time, die: Die, step: &Step) {
        self.line.push_back(Asking {
            die,
            since: now,
            hold: step.bus,
            starts_array: step.array.is_some(),
            urgent: false,
        });
    }
    /// The suspend or resume command of a die is not sent, if it still waits; true if it did.
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
