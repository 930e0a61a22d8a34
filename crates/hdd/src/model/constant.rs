//! Disk model with a constant access time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_kernel::slot::Cited;

use super::{Access, Mechanism, milliseconds};
use crate::extent::Extent;
use wordline_block::PlanError;

/// Every access takes the same time, regardless of its position and length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Constant {
    /// Access time. Milliseconds.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub access_ms: f64,
}

impl Default for Constant {
    fn default() -> Self {
        Self { access_ms: 5.0 }
    }
}

impl Cited for Constant {
    const PAPER: &'static str = "Q. Xia, Towards Design and Analysis for High-Performance and Reliable SSDs, PhD thesis, Virginia Commonwealth University, 2017, table 2";
}

/// Model with times in picoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    access: Time,
}

impl Timed {
    #[allow(clippy::unnecessary_wraps)] // all models have the same signature
    pub(super) fn new(model: &Constant) -> Result<Self, PlanError> {
        Ok(Self {
            access: milliseconds(model.access_ms),
        })
    }
}

impl Mechanism for Timed {
    fn access(&mut self, now: Time, _extent: Extent, _write: bool, ready: Time) -> Access {
        Access {
            seek: self.access,
            rotation: ready.since(now + self.access),
            ..Access::default()
        }
    }
    fn positioning(&self, _now: Time, _extent: Extent, _write: bool) -> Time {
        self.access
    }
    fn pass(&mut self, since: Time, _now: Time, _from: u64, most: u64) -> (u64, Time) {
        (most, since)
    }
}
