//! As fast as the device answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;
use wordline_kernel::{Stream, Time};

use crate::WorkloadError;
use crate::generate::fault;

/// The host keeps a number of requests outstanding: as one completes, the next is issued.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClosedLoop {
    /// Requests outstanding, 1 to 65,536.
    pub queue_depth: u32,
}

impl Default for ClosedLoop {
    fn default() -> Self {
        Self { queue_depth: 32 }
    }
}

impl Cited for ClosedLoop {
    const PAPER: &'static str = "";
}

impl ClosedLoop {
    #[allow(clippy::unnecessary_wraps)] // as the list of arrivals demands
    pub(super) fn queue_depth(&self) -> Option<u32> {
        Some(self.queue_depth)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct State;

impl State {
    pub(super) fn new(parameters: &ClosedLoop) -> Result<Self, WorkloadError> {
        let depth = parameters.queue_depth;
        if (1..=65_536).contains(&depth) {
            return Ok(Self);
        }
        let reason = format!("{depth} is not between 1 and 65536");
        fault(
            "arrival.closed-loop.queue_depth",
            reason,
            "give a number in that range",
        )
    }
    #[allow(clippy::unnecessary_wraps, clippy::unused_self)] // as the list of arrivals demands
    pub(super) fn next(&mut self, _: &mut Stream) -> Option<Time> {
        Some(Time::ZERO)
    }
}
