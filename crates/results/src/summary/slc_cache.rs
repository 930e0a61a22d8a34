//! What went through the SLC cache.

use schemars::JsonSchema;
use serde::Serialize;
use wordline_ssd::SlcCounts;

use super::figures::ratio;
use crate::device::Device;

/// Pages that went through the SLC cache (`ftl.slc_cache`). The reads and programs of folding are among `flash.gc_pages_moved`, and so in `flash.write_amplification` (`flash.programmed.fold_bytes`).
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "SlcCache")]
pub struct SlcCacheSummary {
    /// Pages of the host that were programmed in single-level mode. Null, as all of these, without an SLC cache.
    pub pages_written: u64,
    /// Pages of the host that were programmed in the mode of the part, because the cache had no room.
    pub pages_direct: u64,
    /// Pages of the host in single-level mode, of both.
    pub written_ratio: Option<f64>,
    /// Valid pages that were moved out of the cache, to blocks in the mode of the part.
    pub pages_folded: u64,
    /// Pages that the host read from the cache.
    pub pages_read: u64,
    /// Erases of blocks of the cache.
    pub erases: u64,
}

impl SlcCacheSummary {
    /// None if no device has one.
    pub(super) fn new(devices: &[Device]) -> Option<Self> {
        let counts = devices.iter().filter_map(|device| device.slc_cache);
        let all = counts.reduce(SlcCounts::plus)?;
        Some(Self {
            pages_written: all.written,
            pages_direct: all.direct,
            written_ratio: ratio(all.written, all.written + all.direct),
            pages_folded: all.folded,
            pages_read: all.reads,
            erases: all.erases,
        })
    }
}
