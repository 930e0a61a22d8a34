//! Virtually addressed queueing (VAQ).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;
use wordline_nand::Operation;

use super::in_order::{Conflict, InOrder, Packs};
use super::{Changed, EntryId, Schedule, View};
use wordline_block::Ticket;

/// First in, first out, unaware of physical addresses. A request starts when no outstanding request
/// uses the resources of its pages; until then, all later requests wait. The pages of a request go
/// to their dies in order, each when its die is idle. A request with two pages on one die that
/// cannot share a command is served alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Vaq {
    /// Resource that two requests in flight must not share: a `die`, a `package` (as in the worked
    /// example of section 6.4.3), or a `channel`.
    pub conflict: Conflict,
    /// Whether writes wait in the queue as reads do. Otherwise they are issued to their dies at
    /// once.
    pub holds_writes: bool,
}

impl Default for Vaq {
    fn default() -> Self {
        Self {
            conflict: Conflict::default(),
            holds_writes: true,
        }
    }
}

impl Cited for Vaq {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, section 6.4.3";
}

/// State of the queue.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    in_order: InOrder,
    holds_writes: bool,
}

impl State {
    /// Creates the state before the first request.
    pub fn new(policy: &Vaq) -> Self {
        Self {
            in_order: InOrder::new(policy.conflict, Packs::Nothing),
            holds_writes: policy.holds_writes,
        }
    }
}

impl Schedule for State {
    fn holds(&self, operation: Operation) -> bool {
        self.holds_writes || operation == Operation::Read
    }
    fn choose(&mut self, view: &View<'_>, changed: &mut Changed, group: &mut Vec<EntryId>) {
        self.in_order.choose(view, changed, group);
    }
    fn done(&mut self, ticket: Ticket) {
        self.in_order.done(ticket);
    }
    fn keeps_places(&self) -> bool {
        false
    }
}
