//! FTL in the firmware of the device, behind a protocol bridge.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_block::{Request, Ticket};
use wordline_kernel::Time;
use wordline_kernel::slot::Cited;

/// FTL in the firmware of the device, behind a bridge that converts one protocol into another, such
/// as PCI Express into SAS. The bridge converts one request after another, stripe by stripe. If it
/// stripes over several controllers, `[array]` models the striping.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bridge {
    /// Conversion time per stripe that a request touches. A request without data counts as one
    /// stripe. Nanoseconds.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub protocol_ns: u64,
    /// Length of a stripe. Bytes.
    #[schemars(range(min = 512, max = 1_073_741_824))]
    pub stripe_bytes: u64,
    /// Maximum number of requests that the bridge has accepted for conversion and the store has not
    /// completed. With 1, a request waits at the bridge until the previous one is complete, as in a
    /// protocol without a queue. Count.
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

/// A request that waits at the bridge or is being converted.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Crossing {
    ticket: Ticket,
    work: Time,
    since: Time,
}

/// A converted request, with its wait before the conversion and its conversion time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossed {
    pub ticket: Ticket,
    pub waited: Time,
    pub work: Time,
}

/// State of the bridge, which converts one request at a time, first come, first served.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State {
    protocol: Time,
    stripe_bytes: u64,
    /// Number of requests that the bridge may still accept for conversion.
    permits: u32,
    queue_depth: u32,
    waiting: VecDeque<Crossing>,
    /// Request being converted, and the start of its conversion.
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
    /// Queues a request at the bridge.
    pub fn add(&mut self, now: Time, ticket: Ticket, request: &Request) {
        self.waiting.push_back(Crossing {
            ticket,
            work: self.protocol * self.stripes(request),
            since: now,
        });
    }
    /// Starts converting the next request, if the bridge is idle and has a free slot. Returns the
    /// end of the conversion, or `None` if none has started.
    pub fn start(&mut self, now: Time) -> Option<Time> {
        if self.serving.is_some() || self.permits == 0 {
            return None;
        }
        let crossing = self.waiting.pop_front()?;
        self.permits -= 1;
        self.serving = Some((crossing, now));
        Some(now + crossing.work)
    }
    /// Ends the conversion in progress. Returns the converted request, or `None` if there was no
    /// conversion.
    pub fn converted(&mut self) -> Option<Crossed> {
        let (crossing, begun) = self.serving.take()?;
        Some(Crossed {
            ticket: crossing.ticket,
            waited: begun - crossing.since,
            work: crossing.work,
        })
    }
    /// Handles a power failure: drops all requests that wait at the bridge or have passed it.
    pub fn stop(&mut self) {
        self.permits = self.queue_depth;
        self.waiting.clear();
        self.serving = None;
    }
    /// Releases the slot of a request that the store has completed.
    pub fn release(&mut self) {
        self.permits += 1;
    }
}
