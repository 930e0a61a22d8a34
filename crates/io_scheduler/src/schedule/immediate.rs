//! Immediate issue, without a scheduler.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;
use wordline_nand::Operation;

use super::{Changed, EntryId, Schedule, View};

/// Every operation enters the queue of its die as soon as its request starts. Each die serves its
/// own queue. No operation waits for an operation on another die.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Immediate {}

impl Cited for Immediate {
    const PAPER: &'static str = "";
}

/// State of the policy, which is empty.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State;

impl State {
    /// Creates the state before the first request.
    pub fn new(_policy: &Immediate) -> Self {
        Self
    }
}

impl Schedule for State {
    fn holds(&self, _operation: Operation) -> bool {
        false
    }
    fn choose(&mut self, _view: &View<'_>, changed: &mut Changed, _group: &mut Vec<EntryId>) {
        changed.clear();
    }
}
