//! Validated parameters of the `[ram]` table.

use serde::{Deserialize, Serialize};
use wordline_block::{Op, PlanError, Specification};
use wordline_kernel::Time;
use wordline_kernel::link::Rate;

use crate::config::Config;

/// Sector size: unit of the capacity. Bytes.
const SECTOR_BYTES: u64 = 512;

/// Validated parameters of a RAM disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Capacity that the host can address. Bytes.
    pub capacity_bytes: u64,
    /// Time of a request apart from its data transfer.
    pub overhead: Time,
    /// Copy rate of a channel.
    pub copy: Rate,
    /// Number of requests served at the same time.
    pub channels: u32,
}

impl Plan {
    /// Validates a table whose numbers are in their ranges.
    pub fn new(config: &Config) -> Result<Self, PlanError> {
        let bytes = config.capacity_bytes;
        if !bytes.is_multiple_of(SECTOR_BYTES) {
            return Err(PlanError {
                key: "ram.capacity_bytes",
                reason: format!(
                    "{bytes} bytes are not a whole number of sectors of {SECTOR_BYTES} bytes"
                ),
                remedy: format!("give a multiple of {SECTOR_BYTES}"),
            });
        }
        Ok(Self {
            capacity_bytes: bytes,
            overhead: Time::from_ns(config.overhead_ns),
            copy: Rate {
                ps: (config.ns_per_byte * 1e6).round() as u64,
                bytes: 1000,
            },
            channels: config.channels,
        })
    }
    /// Returns the overhead and the copy time of a request.
    pub(crate) fn service(&self, op: Op, bytes: u64) -> (Time, Time) {
        match op {
            Op::Read | Op::Write => (self.overhead, self.copy.time(bytes)),
            Op::Trim => (self.overhead, Time::ZERO),
            Op::Flush => (Time::ZERO, Time::ZERO),
        }
    }
}

impl Specification for Plan {
    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }
    fn queue_depth(&self) -> u32 {
        u32::MAX
    }
    /// Returns `false`, because a battery preserves the data.
    fn is_volatile(&self) -> bool {
        false
    }
    fn page_us(&self, page_bytes: u64, _write: bool) -> f64 {
        (self.overhead + self.copy.time(page_bytes)).as_us()
    }
}
