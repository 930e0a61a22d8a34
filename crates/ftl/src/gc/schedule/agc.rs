//! Advanced garbage collection (AGC).

use wordline_kernel::Time;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Attention, Idle, Schedule, Trigger, milliseconds};
use crate::job::SpaceRequest;

/// Advanced GC runs before its space is needed. Look-ahead: a tag announces a command before its
/// data arrives, and GC reclaims the space that all announced commands need, if there is enough
/// time. Proactive block compaction: otherwise, in a long idle period, GC reclaims full blocks
/// while few blocks are free. It stops when the next command arrives, announced or not. GC executes
/// one flash operation at a time and stops at the next preemption point when a request has arrived.
/// It continues when the device is idle again. While the device serves the host, GC is on demand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Agc {
    /// Number of commands whose tags are examined before their data arrives (look-ahead).
    #[schemars(range(min = 0, max = 256))]
    pub look_ahead_requests: u32,
    /// Maximum time between the arrival of a tag and that of its data. Milliseconds.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub look_ahead_ms: f64,
    /// Idle time after which an idle period counts as long. Milliseconds.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub long_idle_ms: f64,
    /// Free-block threshold in long idle periods: blocks are compacted while less than this share
    /// of a plane's over-provisioned blocks is free. Ratio.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub compact_below_ratio: f64,
    /// Whether the least recently written logical block is compacted if none is full: "if the
    /// target GC block is fully occupied or if an on-demand GC is to be invoked very soon" (section
    /// 7.6.5). Mappings with logical blocks only.
    pub compacts_least_recent: bool,
}

impl Default for Agc {
    fn default() -> Self {
        Self {
            look_ahead_requests: 2,
            look_ahead_ms: 15.2,
            long_idle_ms: 1000.0,
            compact_below_ratio: 0.43,
            compacts_least_recent: false,
        }
    }
}

impl Cited for Agc {
    const PAPER: &'static str = "M. Jung, R. Prabhakar and M. Kandemir, Taking garbage collection overheads off the critical path in SSDs, Middleware 2012";
}

impl Agc {
    /// Returns the idle time after which an idle period counts as long.
    fn long_idle(&self) -> Time {
        milliseconds(self.long_idle_ms)
    }
}

impl Schedule for Agc {
    fn stepwise(&self) -> bool {
        true
    }
    fn compacts_least_recent(&self) -> bool {
        self.compacts_least_recent
    }
    fn yields_to_requests(&self) -> bool {
        true
    }
    fn attention(&self) -> Option<Attention> {
        Some(Attention {
            at_once: true,
            after: Some(self.long_idle()),
            lookahead_depth: self.look_ahead_requests,
            ahead: milliseconds(self.look_ahead_ms),
        })
    }
    fn idle(&self, idle: &Idle) -> Option<(SpaceRequest, Trigger)> {
        if let (Some(left), Some((want, time))) = (idle.left, idle.shortage)
            && time <= left
        {
            return Some((want, Trigger::LookAhead));
        }
        let is_long = idle.since >= self.long_idle();
        let least_recent = idle.least_recent.filter(|_| self.compacts_least_recent);
        let want = idle
            .full
            .or(least_recent)
            .filter(|_| is_long && idle.below(self.compact_below_ratio))?;
        Some((want, Trigger::Compaction))
    }
}
