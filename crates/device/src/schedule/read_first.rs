//! Reads before writes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_kernel::slot::Cited;
use wordline_nand::Operation;

use super::pack::{Whose, pack};
use super::{Schedule, Seat, Stirred, View, us};

/// An idle die gets the oldest read waiting for it, or a write if there is no read. Operations that
/// fit join its command. An operation that has waited longer than a bound goes before all others,
/// so writes do not starve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReadFirst {
    /// Age from which an operation goes to the queue of its die unconditionally, before all others
    /// of its package; 0: never. Microseconds. Assumed.
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

/// Its bound.
#[derive(Clone, Debug)]
pub struct State {
    age_bound: Time,
}

impl State {
    /// Before the first request.
    pub fn new(policy: &ReadFirst) -> Self {
        Self {
            age_bound: us(policy.age_bound_us),
        }
    }

    pub(super) fn head(&self, view: &View<'_>, package: u32) -> Option<Seat> {
        let line = view.line;
        if let Some(overdue) = view.overdue(package, self.age_bound) {
            return Some(overdue);
        }
        let able = view.firsts(package);
        able.min_by_key(|&seat| (line.get(seat).operation != Operation::Read, line.rank(seat)))
    }
}

impl Schedule for State {
    fn choose(&mut self, view: &View<'_>, stirred: &mut Stirred, group: &mut Vec<Seat>) {
        while let Some(&package) = stirred.first() {
            if let Some(head) = self.head(view, package) {
                group.push(head);
                pack(view, head, Whose::Any, group);
                return;
            }
            stirred.remove(&package);
        }
    }
    fn packs(&self) -> bool {
        true
    }
}
