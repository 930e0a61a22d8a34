//! Delayed garbage collection (DGC).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Attention, Idle, Schedule, Trigger};
use crate::job::SpaceRequest;

/// Delayed GC runs later than on-demand GC would. While the device serves the host, a free block
/// replaces a full update block, and the plane uses up its free blocks, even below the threshold.
/// In both cases GC of the request's logical block is delayed (Jung 2013, algorithm 3, lines 2 to
/// 5). The delayed GC executes one flash operation at a time when no command is queued (retroactive
/// block compaction). Page mapping, which has no logical blocks, then reclaims blocks of planes
/// with too few free blocks. If no free block can be spared, GC is on demand.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dgc {}

impl Cited for Dgc {
    const PAPER: &'static str = "M. Jung, R. Prabhakar and M. Kandemir, Taking garbage collection overheads off the critical path in SSDs, Middleware 2012";
}

impl Schedule for Dgc {
    fn at_threshold(&self) -> bool {
        false
    }
    fn replaces(&self) -> bool {
        true
    }
    fn stepwise(&self) -> bool {
        true
    }
    fn yields_to_requests(&self) -> bool {
        true
    }
    fn attention(&self) -> Option<Attention> {
        Some(Attention {
            at_once: true,
            ..Attention::default()
        })
    }
    fn idle(&self, idle: &Idle) -> Option<(SpaceRequest, Trigger)> {
        idle.delayed.map(|want| (want, Trigger::Retroactive))
    }
}
