//! What the simulation cost.

use crate::outcome::SsdOutcome;
use schemars::JsonSchema;
use serde::Serialize;
use wordline_ssd::precondition::Preconditioned;

/// What the simulation cost.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Speed")]
pub struct SpeedSummary {
    /// Wall-clock time of the run, preconditioning included.
    pub wall_s: f64,
    /// Processor time of the run, preconditioning included.
    pub cpu_s: f64,
    /// Of that, the processor time of preconditioning.
    pub precondition_cpu_s: f64,
    /// Events simulated.
    pub events: u64,
    /// Completed requests per second of processor time.
    pub requests_per_cpu_s: f64,
    /// Growth of the process's resident memory from the empty device to the end of the run.
    pub resident_bytes: u64,
    /// Logical pages written at least once, at most: pages written, bounded by the user pages.
    pub pages_touched: u64,
    /// The ratio of the two; fixed costs weigh on short runs, the shadow store on verified ones.
    pub resident_bytes_per_touched_page: f64,
}

/// Logical pages of a device that were written, at most.
pub(super) fn pages_touched(ssd: &SsdOutcome<'_>) -> u64 {
    let Preconditioned {
        fill, overwrites, ..
    } = &ssd.device.preconditioned;
    let written = fill.written + overwrites.written + ssd.record.flash().host_page_writes;
    written.min(ssd.device.user_pages.into())
}
