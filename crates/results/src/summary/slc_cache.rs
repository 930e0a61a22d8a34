//! Section `slc_cache` of the summary.

use schemars::JsonSchema;
use serde::Serialize;
use wordline_kernel::Plus;
use wordline_ssd::SlcCounts;

use super::figures::ratio;
use crate::device::Device;

section! {
    /// Pages that went through the SLC cache (`ftl.slc_cache`). Pages moved by folding count in
    /// `flash.gc_pages_moved`, and therefore in `flash.write_amplification`
    /// (`flash.programmed.fold_bytes`).
    #[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
    #[schemars(rename = "SlcCache")]
    pub struct SlcCacheSummary by of(all: &SlcCounts);

    /// Host pages programmed in single-level mode. The whole table is null without an SLC cache.
    pages_written: u64 = all.written;
    /// Host pages programmed in the native mode of the part because the cache was full.
    pages_direct: u64 = all.direct;
    /// Share of host pages programmed in single-level mode.
    written_ratio: Option<f64> = ratio(all.written, all.written + all.direct);
    /// Valid pages moved out of the cache, to blocks in the native mode of the part.
    pages_folded: u64 = all.folded;
    /// Pages that the host read from the cache.
    pages_read: u64 = all.reads;
    /// Erases of blocks of the cache.
    erases: u64 = all.erases;
}

impl SlcCacheSummary {
    /// Returns the section, or `None` if no device has an SLC cache.
    pub(super) fn new(devices: &[Device]) -> Option<Self> {
        let counts = devices.iter().filter_map(|device| device.slc_cache);
        counts.reduce(SlcCounts::plus).as_ref().map(Self::of)
    }
}
