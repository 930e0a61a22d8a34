//! Advanced and delayed garbage collection combined (AGC+DGC).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::agc::Agc;
use super::dgc::Dgc;
use super::{Attention, Idle, Schedule, Trigger};
use crate::job::SpaceRequest;

/// While the device serves the host, delayed GC (DGC) applies. When the device is idle, the delayed
/// GC runs execute first, then advanced GC (AGC) applies (Jung 2013, algorithm 3).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AgcDgc {
    /// Parameters of advanced GC.
    pub agc: Agc,
}

impl Cited for AgcDgc {
    const PAPER: &'static str = Agc::PAPER;
}

impl Schedule for AgcDgc {
    fn at_threshold(&self) -> bool {
        false
    }
    fn replaces(&self) -> bool {
        true
    }
    fn stepwise(&self) -> bool {
        true
    }
    fn compacts_least_recent(&self) -> bool {
        self.agc.compacts_least_recent()
    }
    fn yields_to_requests(&self) -> bool {
        self.agc.yields_to_requests()
    }
    fn attention(&self) -> Option<Attention> {
        self.agc.attention()
    }
    fn idle(&self, idle: &Idle) -> Option<(SpaceRequest, Trigger)> {
        Dgc {}.idle(idle).or_else(|| self.agc.idle(idle))
    }
}
