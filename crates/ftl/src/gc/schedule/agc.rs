//! Advanced garbage collection.

use wordline_kernel::Time;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Attention, Idle, PreemptionPoint, Schedule, Trigger, milliseconds};
use crate::job::SpaceRequest;

/// Collection before it is needed. Before a command whose tag has come: what the commands will need
/// whose tags have, if the time is long enough (look-ahead). If not, or if they need nothing, in a
/// long idle period: blocks without a free page, while free blocks are few (proactive block
/// compaction), until the next command comes, whether its tag has come or not. It goes one flash
/// operation at a time and stops at the next checkpoint when a request has come; the rest follows
/// when the device is idle again. While the host is being served, collection is on demand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Agc {
    /// Commands whose tags are examined before their data arrives (look-ahead).
    #[schemars(range(min = 0, max = 256))]
    pub look_ahead_requests: u32,
    /// Maximum time that a tag arrives before its data, in milliseconds.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub look_ahead_ms: f64,
    /// An idle period is long after this many milliseconds.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub long_idle_ms: f64,
    /// Blocks are compacted in long idle periods while less than this share of a plane's spare
    /// blocks is free (free block threshold). Ratio.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub compact_below_ratio: f64,
    /// Whether the logical block that was written least recently is compacted where none is full: "if the target GC block is fully
    /// occupied or if an on-demand GC is to be invoked very soon" (section 7.6.5). Mappings with logical blocks.
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
    /// How long an idle period is before it is a long one.
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
    fn yields(&self, checkpoint: &PreemptionPoint) -> bool {
        checkpoint.requests > 0
    }
    fn attention(&self) -> Option<Attention> {
        Some(Attention {
            at_once: true,
            after: Some(self.long_idle()),
            tags: self.look_ahead_requests,
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
