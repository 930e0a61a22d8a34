//! Link with a fixed time per byte.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_kernel::slot::Cited;

use super::{Act, Command, Connect, Event, Stream, Transfer};
use wordline_block::Ticket;
use wordline_kernel::link::{self, Rate};

/// Half-duplex link with a fixed time per byte, for comparisons with publications that state no
/// other property of their interface. The data of a request is sent in one transfer, first come,
/// first served: the data of a write before the device serves it, the data of a read afterwards.
/// Commands and completions take no time. All streams share the queue slots of the device, first
/// come, first served.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Link {
    /// Time per byte on the link, rounded to a thousandth of a picosecond; 5 ns per byte are 200
    /// MB/s. Nanoseconds per byte. The default is assumed.
    #[schemars(range(min = 0.0, max = 1e6))]
    pub ns_per_byte: f64,
}

impl Default for Link {
    fn default() -> Self {
        Self { ns_per_byte: 5.0 }
    }
}

impl Cited for Link {
    const PAPER: &'static str = "";
}

pub(super) const MAX_QUEUE_DEPTH: Option<u32> = None;

/// A request between host and device, and its transfer time so far.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Passage {
    write: bool,
    length: Time,
    transfer: Transfer,
}

/// The link, the number of occupied slots, and the requests by ticket.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    link: link::Link,
    queue_depth: u32,
    in_flight: u32,
    passages: Vec<Passage>,
}

impl State {
    /// Creates the state before the first request.
    pub fn new(policy: &Link, queue_depth: u32, _streams: &[Stream]) -> Self {
        let rate = Rate {
            ps: (policy.ns_per_byte * 1e6).round() as u64,
            bytes: 1000,
        };
        Self {
            link: link::Link::new(rate),
            queue_depth,
            in_flight: 0,
            passages: Vec::new(),
        }
    }
    /// Transfers the data of a request, and schedules `event` for the end of the transfer.
    fn carry(&mut self, now: Time, ticket: Ticket, event: Event, act: &mut impl Act) {
        let Passage {
            length, transfer, ..
        } = &mut self.passages[ticket as usize];
        let wait = self.link.reserve(now, *length);
        transfer.link_wait += wait;
        transfer.link += *length;
        act.schedule(now + wait + *length, event);
    }
    fn end(&mut self, now: Time, ticket: Ticket, act: &mut impl Act) {
        self.in_flight -= 1;
        act.complete(now, ticket);
    }
}

impl Connect for State {
    #[inline]
    fn can_accept(&self, _stream: u32) -> bool {
        self.in_flight < self.queue_depth
    }
    fn submit(&mut self, now: Time, command: Command, act: &mut impl Act) {
        let Command {
            ticket,
            write,
            bytes,
            ..
        } = command;
        self.in_flight += 1;
        let place = ticket as usize;
        if self.passages.len() <= place {
            self.passages.resize(place + 1, Passage::default());
        }
        self.passages[place] = Passage {
            write,
            length: self.link.time(bytes),
            transfer: Transfer::default(),
        };
        if write {
            self.carry(now, ticket, Event::Sent(ticket), act);
        } else {
            act.begin(now, ticket);
        }
    }
    fn handle(&mut self, now: Time, event: Event, act: &mut impl Act) {
        match event {
            Event::Sent(ticket) => act.begin(now, ticket),
            Event::Done(ticket) => self.end(now, ticket, act),
            Event::Rung(_) | Event::Arrived(_) | Event::Answered(_) | Event::Posted(_) => {}
        }
    }
    fn finished(&mut self, now: Time, ticket: Ticket, act: &mut impl Act) {
        if self.passages[ticket as usize].write {
            self.end(now, ticket, act);
        } else {
            self.carry(now, ticket, Event::Done(ticket), act);
        }
    }
    #[inline]
    fn transfer(&mut self, ticket: Ticket) -> Transfer {
        self.passages[ticket as usize].transfer
    }
    #[inline]
    fn in_flight(&self) -> u32 {
        self.in_flight
    }
}
