//! Virtually addressed queueing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::in_order::{Conflict, InOrder};
use super::{Schedule, Seat, Stirred, View};
use crate::host::Ticket;

/// First in, first out, without a look at physical addresses: a request begins when what its pages
/// need is not in use by requests under way, and until then all behind it wait. The pages of a
/// request go to their dies in order, each when its die has nothing else to do; a request of which
/// two pages want one die, and cannot be one command, is served alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Vaq {
    /// What two requests must not have in common to be under way together: a `die`, a `package` (as
    /// in the worked example of section 6.4.3), or a `channel`.
    pub conflict: Conflict,
}

impl Cited for Vaq {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, section 6.4.3";
}

/// The queue.
#[derive(Clone, Debug)]
pub struct State(InOrder);

impl State {
    /// Before the first request.
    pub fn new(policy: &Vaq) -> Self {
        Self(InOrder::new(policy.conflict, false))
    }
}

impl Schedule for State {
    fn choose(&mut self, view: &View<'_>, stirred: &mut Stirred, group: &mut Vec<Seat>) {
        self.0.choose(view, stirred, group);
    }
    fn done(&mut self, ticket: Ticket) {
        self.0.done(ticket);
    }
}
