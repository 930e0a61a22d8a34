//! Incremental garbage collection, which host operations can preempt.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{PreemptionPoint, Schedule};

/// On-demand GC that executes one flash operation at a time. Between two operations, host
/// operations that wait for the die are executed first, until the plane's free blocks are down to
/// the reserve (`ftl.gc.hard_free_ratio`, the hard limit) or a write waits for the GC run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Incremental {}

impl Cited for Incremental {
    const PAPER: &'static str =
        "J. Lee et al., A semi-preemptive garbage collector for solid state drives, ISPASS 2011";
}

impl Schedule for Incremental {
    fn stepwise(&self) -> bool {
        true
    }
    fn yields(&self, checkpoint: &PreemptionPoint) -> bool {
        checkpoint.on_die > 0 && checkpoint.free_blocks > checkpoint.reserve_blocks
    }
}
