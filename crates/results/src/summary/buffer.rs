//! The DRAM buffer.

use super::energy::MeanEnergy;
use super::figures::{heading, ratio};
use super::flash::write_amplification;
use crate::device::Device;
use schemars::JsonSchema;
use serde::Serialize;
use wordline_config::Plan;
use wordline_observe::{Column, values};
use wordline_recorder::{BufferCounts, FlashCounts, Record};

wordline_recorder::buffer_figures! {
    figures {
        /// The DRAM buffer. Hits and misses are of pages.
        #[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
        #[schemars(rename = "Buffer")]
        BufferSummary of BufferCounts, BufferEnd<'_>; columns "buffer_"
    }
    counts now end
}

/// What figures of the buffer need of the flash behind it and of the end of a run.
struct BufferEnd<'a> {
    flash: FlashCounts,
    energy: &'a MeanEnergy,
    /// Whether the balance of the dies was looked at when pages left.
    watches_balance: bool,
    dirty_pages: u64,
}

impl BufferEnd<'_> {
    fn unbalanced_ratio(&self, counts: &BufferCounts) -> Option<f64> {
        ratio(counts.unbalanced, counts.evictions()).filter(|_| self.watches_balance)
    }
}

impl BufferSummary {
    /// None without a buffer.
    pub(crate) fn new(
        plan: &Plan,
        record: &Record,
        devices: &[Device],
        energy: &MeanEnergy,
    ) -> Option<Self> {
        let buffer = plan.ssds().find_map(|ssd| ssd.device.buffer.as_ref())?;
        let end = BufferEnd {
            flash: record.flash(),
            energy,
            watches_balance: buffer.watches_balance,
            dirty_pages: devices.iter().map(|device| device.dirty_pages).sum(),
        };
        Some(Self::of(&record.buffer(), &end))
    }
}
