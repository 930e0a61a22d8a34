//! Section `idle_periods` of the summary.

use schemars::JsonSchema;
use serde::Serialize;
use wordline_kernel::Plus;
use wordline_ssd::IdleCounts;

use crate::device::Device;

section! {
    /// Idle periods of the SSDs, in which an SSD held no request, by the GC that used them.
    #[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
    #[schemars(rename = "IdlePeriods")]
    pub struct IdlePeriodSummary by of(all: &IdleCounts);

    /// Idle periods that a request ended. The whole table is null if no SSD uses idle time for GC.
    periods: u64 = all.periods;
    /// Idle periods in which an operation of a GC run started.
    with_gc: u64 = all.with_gc;
    /// Idle periods in which advanced GC (AGC) started an operation of a look-ahead or compaction
    /// GC run.
    with_agc: u64 = all.with_agc;
    /// Idle periods in which delayed GC (DGC) started an operation of a retroactive GC run, or of
    /// one that AGC had handed over.
    with_dgc: u64 = all.with_dgc;
    /// Idle periods in which both AGC and DGC started operations.
    with_agc_and_dgc: u64 = all.with_agc_and_dgc;
    /// GC runs of AGC that paused because a request had arrived, and that DGC continued.
    gc_runs_handed_over: u64 = all.handed_over;
}

impl IdlePeriodSummary {
    /// Returns the section, or `None` if no SSD uses idle time for GC.
    pub(super) fn new(devices: &[Device]) -> Option<Self> {
        let counts = devices.iter().filter_map(|device| device.idle_periods);
        counts.reduce(IdleCounts::plus).as_ref().map(Self::of)
    }
}
