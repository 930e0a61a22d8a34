//! Disk model with an average positioning time and a transfer rate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_kernel::slot::Cited;

use super::{Access, Mechanism, milliseconds};
use crate::extent::{Extent, SECTOR_BYTES};
use wordline_block::PlanError;

/// An access takes an average positioning time, which differs between reads and writes, plus the
/// transfer time of its bytes at a fixed rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Average {
    /// Positioning time of a read. Milliseconds.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub read_positioning_ms: f64,
    /// Positioning time of a write. Milliseconds.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub write_positioning_ms: f64,
    /// Transfer rate. Million bytes per second.
    #[schemars(range(min = 0.001, max = 1_000_000))]
    pub megabytes_per_s: f64,
}

impl Default for Average {
    fn default() -> Self {
        Self {
            read_positioning_ms: 4.5,
            write_positioning_ms: 4.9,
            megabytes_per_s: 72.0,
        }
    }
}

impl Cited for Average {
    const PAPER: &'static str = "Y. Oh, J. Choi, D. Lee, S. Noh, Caching less for better performance: balancing cache size and update cost of flash memory cache in hybrid storage systems, FAST 2012, table 2";
}

/// Model with times in picoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    read: Time,
    write: Time,
    /// Transfer rate. Bytes per second.
    rate: u64,
}

impl Timed {
    #[allow(clippy::unnecessary_wraps)] // all models have the same signature
    pub(super) fn new(model: &Average) -> Result<Self, PlanError> {
        Ok(Self {
            read: milliseconds(model.read_positioning_ms),
            write: milliseconds(model.write_positioning_ms),
            rate: (model.megabytes_per_s * 1e6).round() as u64,
        })
    }
}

impl Timed {
    fn positioning_of(&self, write: bool) -> Time {
        if write { self.write } else { self.read }
    }
    fn sectors_of(&self, time: Time) -> u64 {
        let bytes = u128::from(time.0) * u128::from(self.rate) / u128::from(Time::from_ms(1_000).0);
        bytes as u64 / SECTOR_BYTES
    }
    fn transfer(&self, sectors: u64) -> Time {
        let bytes = u128::from(sectors * SECTOR_BYTES);
        Time((bytes * u128::from(Time::from_ms(1_000).0) / u128::from(self.rate)) as u64)
    }
}

impl Mechanism for Timed {
    fn access(&mut self, now: Time, extent: Extent, write: bool, ready: Time) -> Access {
        let seek = self.positioning_of(write);
        Access {
            seek,
            rotation: ready.since(now + seek),
            transfer: self.transfer(extent.sectors),
            ..Access::default()
        }
    }
    fn positioning(&self, _now: Time, _extent: Extent, write: bool) -> Time {
        self.positioning_of(write)
    }
    fn pass(&mut self, since: Time, now: Time, _from: u64, most: u64) -> (u64, Time) {
        let passed = self.sectors_of(now.since(since)).min(most);
        (passed, since + self.transfer(passed))
    }
}
