//! Reads before writes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_kernel::slot::Cited;
use wordline_nand::Operation;

use super::pack::{PackScope, pack};
use super::{Changed, EntryId, Schedule, View, us};

/// An idle die gets the oldest read that waits for it, or a write if there is no read. Operations
/// that fit join its command. A ready operation that has waited longer than `age_bound_us` precedes
/// all others of its package, so that writes do not starve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReadFirst {
    /// Age above which a ready operation goes to the queue of its die unconditionally, before all
    /// others of its package. 0 disables the bound. The default is an assumption. Microseconds.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub age_bound_us: f64,
}

impl Default for ReadFirst {
    fn default() -> Self {
        Self {
            age_bound_us: 10_000.0,
        }
    }
}

impl Cited for ReadFirst {
    const PAPER: &'static str = "";
}

/// State of the policy: the age bound.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    age_bound: Time,
}

impl State {
    /// Creates the state before the first request.
    pub fn new(policy: &ReadFirst) -> Self {
        Self {
            age_bound: us(policy.age_bound_us),
        }
    }

    pub(super) fn head(&self, view: &View<'_>, package: u32) -> Option<EntryId> {
        let queue = view.queue;
        if let Some(overdue) = view.overdue(package, self.age_bound) {
            return Some(overdue);
        }
        view.first_by(package, |id| {
            (queue.get(id).operation != Operation::Read, queue.rank(id))
        })
    }
}

impl Schedule for State {
    fn choose(&mut self, view: &View<'_>, changed: &mut Changed, group: &mut Vec<EntryId>) {
        while let Some(package) = changed.next_from(0) {
            if let Some(head) = self.head(view, package) {
                group.push(head);
                pack(view, head, PackScope::Any, group);
                return;
            }
            changed.remove(package);
        }
    }
    fn packs(&self) -> bool {
        true
    }
    fn has_age_bound(&self) -> bool {
        self.age_bound > Time::ZERO
    }
}
