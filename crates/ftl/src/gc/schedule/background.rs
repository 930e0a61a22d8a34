//! Background garbage collection, in idle time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Attention, Idle, PreemptionPoint, Schedule, Trigger, milliseconds};
use crate::job::SpaceRequest;

/// While the device serves the host, GC of a plane runs only when a write cannot proceed. When no
/// command has been queued for `after_ms`, GC runs until each plane has reached its free-block
/// threshold and `free_ratio` of its over-provisioned blocks are free. GC also stops when no more
/// space can be gained (stop rule). A GC run completes once started, unless it is `preemptible`. A
/// preemptible GC run executes one flash operation at a time, and pauses while the device serves
/// requests and the plane has more free blocks than the reserve. A request then waits for at most
/// one GC operation. A GC run that a write waits for always completes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Background {
    /// Idle time of the device before background GC starts. Milliseconds.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub after_ms: f64,
    /// Share of a plane's over-provisioned blocks to keep free. Ratio.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub free_ratio: f64,
    /// Whether a GC run pauses for host requests between two flash operations.
    pub preemptible: bool,
}

impl Default for Background {
    fn default() -> Self {
        Self {
            after_ms: 10.0,
            free_ratio: 0.5,
            preemptible: false,
        }
    }
}

impl Cited for Background {
    const PAPER: &'static str = "";
}

impl Schedule for Background {
    fn at_threshold(&self) -> bool {
        false
    }
    fn stepwise(&self) -> bool {
        self.preemptible
    }
    fn yields(&self, checkpoint: &PreemptionPoint) -> bool {
        self.preemptible
            && checkpoint.requests > 0
            && checkpoint.free_blocks > checkpoint.reserve_blocks
    }
    fn attention(&self) -> Option<Attention> {
        Some(Attention {
            after: Some(milliseconds(self.after_ms)),
            ..Attention::default()
        })
    }
    fn idle(&self, idle: &Idle) -> Option<(SpaceRequest, Trigger)> {
        let low = idle.below(self.free_ratio) || idle.free_blocks < idle.start_blocks;
        if idle.since < milliseconds(self.after_ms) || !low {
            return None;
        }
        let want = idle.delayed.or(idle.reclaim).or(idle.full)?;
        Some((want, Trigger::Background))
    }
}
