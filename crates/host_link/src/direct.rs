//! No host interface: requests enter and leave the device without delay.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_kernel::slot::Cited;

use super::{Act, Command, Connect, Event, Stream, Transfer};
use wordline_block::Ticket;

/// Ideal interface without link or overhead. A request enters the device when the host submits it,
/// and completes when the device has served it. All streams share the queue slots of the device,
/// first come, first served.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Direct {}

impl Cited for Direct {
    const PAPER: &'static str = "";
}

pub(super) const MAX_QUEUE_DEPTH: Option<u32> = None;

/// Number of outstanding commands, and its limit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    queue_depth: u32,
    in_flight: u32,
}

impl State {
    /// Creates the state before the first request.
    pub fn new(_policy: &Direct, queue_depth: u32, _streams: &[Stream]) -> Self {
        Self {
            queue_depth,
            in_flight: 0,
        }
    }
}

impl Connect for State {
    #[inline]
    fn can_accept(&self, _stream: u32) -> bool {
        self.in_flight < self.queue_depth
    }
    #[inline]
    fn submit(&mut self, now: Time, command: Command, act: &mut impl Act) {
        self.in_flight += 1;
        act.begin(now, command.ticket);
    }
    #[inline]
    fn handle(&mut self, _now: Time, _event: Event, _act: &mut impl Act) {}
    #[inline]
    fn finished(&mut self, now: Time, ticket: Ticket, act: &mut impl Act) {
        self.in_flight -= 1;
        act.complete(now, ticket);
    }
    #[inline]
    fn transfer(&mut self, _ticket: Ticket) -> Transfer {
        Transfer::default()
    }
    #[inline]
    fn in_flight(&self) -> u32 {
        self.in_flight
    }
}
