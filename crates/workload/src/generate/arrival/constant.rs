//! Arrivals at equal intervals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;
use wordline_kernel::{Rng, Time};

use crate::WorkloadError;

/// Requests arrive at fixed intervals, independently of the device. The first arrives at time 0.
/// Rates are rounded to a thousandth of a request per second; arrivals do not drift.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Constant {
    /// Requests per second.
    #[schemars(range(min = 1e-3, max = 1e9))]
    pub iops: f64,
}

impl Default for Constant {
    fn default() -> Self {
        Self { iops: 10_000.0 }
    }
}

impl Cited for Constant {
    const PAPER: &'static str = "";
}

impl Constant {
    #[allow(clippy::unused_self)] // signature shared by all arrival processes
    pub(super) fn queue_depth(&self) -> Option<u32> {
        None
    }
}

#[derive(Clone, Debug)]
pub(crate) struct State {
    millihertz: u128,
    count: u64,
}

impl State {
    #[allow(clippy::unnecessary_wraps)] // signature shared by all arrival processes
    pub(super) fn new(parameters: &Constant) -> Result<Self, WorkloadError> {
        let millihertz = (parameters.iops * 1000.0).round().max(1.0) as u128;
        Ok(Self {
            millihertz,
            count: 0,
        })
    }
    pub(super) fn next(&mut self, _: &mut Rng) -> Option<Time> {
        const PS_PER_KILOSECOND: u128 = 1_000_000_000_000_000;
        let ps = u128::from(self.count) * PS_PER_KILOSECOND / self.millihertz;
        self.count += 1;
        u64::try_from(ps).ok().map(Time::from_ps)
    }
}
