//! Firmware in the device, behind a bridge.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_block::{Request, Ticket};
use wordline_kernel::Time;
use wordline_kernel::slot::Cited;

/// Firmware in the device, behind a bridge that converts one protocol into another, such as PCI Express into SAS: one request after
/// the other, stripe by stripe. The controllers that it stripes over are the members of `[array]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bridge {
    /// Time of the bridge for each stripe of a request, and for a request without any. Nanoseconds.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub protocol_ns: u64,
    /// Bytes of a stripe. Bytes.
    #[schemars(range(min = 512, max = 1_073_741_824))]
    pub stripe_bytes: u64,
    /// Requests between the bridge and the completions of the store at once: 1 is a protocol without a queue, in which a request
    /// waits at the bridge until the one before is complete. Count.
    #[schemars(range(min = 1, max = 65_536))]
    pub queue_depth: u32,
}

impl Default for Bridge {
    fn default() -> Self {
        Self {
            protocol_ns: 10_000,
            stripe_bytes: 65_536,
            queue_depth: 32,
        }
    }
}

impl Cited for Bridge {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, section 4.2.1";
}

/// A request at the bridge.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Crossing {
    ticket: Ticket,
    work: Time,
    since: Time,
}

/// A request that has crossed, and what it took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossed {
    pub ticket: Ticket,
    pub waited: Time,
    pub work: Time,
}

/// The bridge: one server, in the order of arrival.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State {
    protocol: Time,
    stripe_bytes: u64,
    /// Requests that may still begin.
    permits: u32,
    queue_depth: u32,
    waiting: VecDeque<Crossing>,
    /// The request that is converted, and since when.
    serving: Option<(Crossing, Time)>,
}

impl State {
    pub fn new(policy: &Bridge) -> Self {
        Self {
            protocol: Time::from_ns(policy.protocol_ns),
            stripe_bytes: policy.stripe_bytes,
            permits: policy.queue_depth,
            queue_depth: policy.queue_depth,
            waiting: VecDeque::new(),
            serving: None,
        }
    }
    fn stripes(&self, request: &Request) -> u64 {
        let end = request.offset.saturating_add(request.bytes);
        let stripes = end.div_ceil(self.stripe_bytes) - request.offset / self.stripe_bytes;
        stripes.max(1)
    }
    /// A request comes to the bridge.
    pub fn add(&mut self, now: Time, ticket: Ticket, request: &Request) {
        self.waiting.push_back(Crossing {
            ticket,
            work: self.protocol * self.stripes(request),
            since: now,
        });
    }
    /// The next request is converted, if one can be: until when.
    pub fn start(&mut self, now: Time) -> Option<Time> {
        if self.serving.is_some() || self.permits == 0 {
            return None;
        }
        let crossing = self.waiting.pop_front()?;
        self.permits -= 1;
        self.serving = Some((crossing, now));
        Some(now + crossing.work)
    }
    /// The request is converted.
    pub fn converted(&mut self) -> Option<Crossed> {
        let (crossing, begun) = self.serving.take()?;
        Some(Crossed {
            ticket: crossing.ticket,
            waited: begun - crossing.since,
            work: crossing.work,
        })
    }
    /// The power fails: nothing is at the bridge, or behind it.
    pub fn stop(&mut self) {
        self.permits = self.queue_depth;
        self.waiting.clear();
        self.serving = None;
    }
    /// A request that has crossed is complete.
    pub fn release(&mut self) {
        self.permits += 1;
    }
}
