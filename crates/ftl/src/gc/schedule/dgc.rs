//! Delayed garbage collection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Attention, Idle, PreemptionPoint, Schedule, Trigger};
use crate::job::SpaceRequest;

/// Collection after it would have been needed. While the host is being served, a free block takes
/// the place of a full update block, and the plane goes on with the free blocks it has, however few.
/// Either way it is the logical block of the request that is put off (Jung 2013, algorithm 3, lines 2
/// to 5); its collection follows, one flash operation at a time, when no command is queued
/// (retroactive block compaction). Page mapping, without logical blocks, collects a plane then that
/// has too few free blocks. Without a free block to spare, collection is on demand.
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
    fn yields(&self, checkpoint: &PreemptionPoint) -> bool {
        checkpoint.requests > 0
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
