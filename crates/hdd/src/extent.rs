//! Sectors, and extents of consecutive sectors.

use serde::{Deserialize, Serialize};

/// Bytes per sector.
pub const SECTOR_BYTES: u64 = 512;

/// Range of consecutive sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// First sector of the range.
    pub lbn: u64,
    /// Number of sectors in the range.
    pub sectors: u64,
}

impl Extent {
    /// Returns the sectors that contain `bytes` bytes from `offset`.
    pub fn of_bytes(offset: u64, bytes: u64) -> Self {
        let lbn = offset / SECTOR_BYTES;
        Self {
            lbn,
            sectors: (offset + bytes).div_ceil(SECTOR_BYTES) - lbn,
        }
    }
    /// Returns the first sector after the extent.
    pub fn end(&self) -> u64 {
        self.lbn + self.sectors
    }
}
