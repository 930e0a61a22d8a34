//! Poisson arrivals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;
use wordline_kernel::{Rng, Time};

use crate::WorkloadError;

/// Requests arrive independently of each other and of the device. Interarrival times are
/// exponentially distributed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Poisson {
    /// Mean number of requests per second.
    #[schemars(range(min = 1e-3, max = 1e9))]
    pub iops: f64,
}

impl Default for Poisson {
    fn default() -> Self {
        Self { iops: 10_000.0 }
    }
}

impl Cited for Poisson {
    const PAPER: &'static str = "";
}

impl Poisson {
    #[allow(clippy::unused_self)] // signature shared by all arrival processes
    pub(super) fn queue_depth(&self) -> Option<u32> {
        None
    }
}

#[derive(Clone, Debug)]
pub(crate) struct State {
    mean_ps: f64,
    now: Time,
}

impl State {
    #[allow(clippy::unnecessary_wraps)] // signature shared by all arrival processes
    pub(super) fn new(parameters: &Poisson) -> Result<Self, WorkloadError> {
        Ok(Self {
            mean_ps: 1e12 / parameters.iops,
            now: Time::ZERO,
        })
    }
    pub(super) fn next(&mut self, random: &mut Rng) -> Option<Time> {
        // libm replaces the platform's logarithm, so that all machines give the same arrivals.
        let gap = -self.mean_ps * libm::log(1.0 - random.unit());
        self.now = self.now.checked_add(Time::from_ps(gap as u64))?;
        Some(self.now)
    }
}
