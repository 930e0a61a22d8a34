//! Sectors.

use serde::{Deserialize, Serialize};

/// Bytes of a sector.
pub const SECTOR_BYTES: u64 = 512;

/// Sectors in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// The first.
    pub lbn: u64,
    /// How many.
    pub sectors: u64,
}

impl Extent {
    /// Those that bytes from an offset on lie in.
    pub fn of_bytes(offset: u64, bytes: u64) -> Self {
        let lbn = offset / SECTOR_BYTES;
        Self {
            lbn,
            sectors: (offset + bytes).div_ceil(SECTOR_BYTES) - lbn,
        }
    }
    /// The first sector behind it.
    pub fn end(&self) -> u64 {
        self.lbn + self.sectors
    }
}
