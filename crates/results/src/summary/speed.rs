//! Section `speed` of the summary: cost of the simulation.

use crate::outcome::{Speed, SsdOutcome};
use schemars::JsonSchema;
use serde::Serialize;
use wordline_ftl::precondition::Preconditioned;

section! {
    /// Cost of the simulation.
    #[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
    #[schemars(rename = "Speed")]
    pub struct SpeedSummary by new(speed: &Speed, requests: u64, touched: u64);

    /// Wall-clock time of the run, preconditioning included.
    wall_s: f64 = speed.wall.as_secs_f64();
    /// Processor time of the run, preconditioning included.
    cpu_s: f64 = speed.cpu.as_secs_f64();
    /// Processor time of preconditioning, part of `speed.cpu_s`.
    precondition_cpu_s: f64 = speed.precondition_cpu.as_secs_f64();
    /// Number of simulated events.
    events: u64 = speed.events;
    /// Completed reads and writes per second of `speed.cpu_s`.
    requests_per_cpu_s: f64 = requests as f64 / speed.cpu.as_secs_f64().max(1e-9);
    /// Growth of the process's resident memory from the empty device to the end of the run.
    resident_bytes: u64 = speed.resident_bytes;
    /// Upper bound of the logical pages written at least once: pages written, but at most the
    /// number of user pages.
    pages_touched: u64 = touched;
    /// Resident bytes per touched page. In short runs fixed costs dominate; in verified runs the
    /// content oracle adds to them.
    resident_bytes_per_touched_page: f64 = speed.resident_bytes as f64 / touched.max(1) as f64;
}

/// Returns an upper bound of the logical pages of a device that were written.
pub(super) fn pages_touched(ssd: &SsdOutcome<'_>) -> u64 {
    let Preconditioned {
        fill, overwrites, ..
    } = &ssd.device.preconditioned;
    let written = fill.written + overwrites.written + ssd.record.flash().host_page_writes;
    written.min(ssd.device.user_pages.into())
}
