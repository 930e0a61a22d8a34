//! Closed loop: requests arrive when others complete.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;
use wordline_kernel::{Rng, Time};

use crate::WorkloadError;

/// The host keeps a fixed number of requests outstanding. When one completes, it issues the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClosedLoop {
    /// Number of outstanding requests (queue depth).
    #[schemars(range(min = 1, max = 65_536))]
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
    #[allow(clippy::unnecessary_wraps)] // signature shared by all arrival processes
    pub(super) fn queue_depth(&self) -> Option<u32> {
        Some(self.queue_depth)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct State;

impl State {
    #[allow(clippy::unnecessary_wraps)] // signature shared by all arrival processes
    pub(super) fn new(_: &ClosedLoop) -> Result<Self, WorkloadError> {
        Ok(Self)
    }
    #[allow(clippy::unnecessary_wraps, clippy::unused_self)] // signature shared by all arrival processes
    pub(super) fn next(&mut self, _: &mut Rng) -> Option<Time> {
        Some(Time::ZERO)
    }
}
