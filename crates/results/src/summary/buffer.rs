//! Section `buffer` of the summary: the DRAM buffer.

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
        /// DRAM buffer. Hits and misses are counted per page.
        #[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
        #[schemars(rename = "Buffer")]
        BufferSummary of BufferCounts, BufferEnd<'_>; columns "buffer_"
    }
    counts now end
}

/// State from which the metrics of the buffer are computed, apart from its counters.
struct BufferEnd<'a> {
    flash: FlashCounts,
    energy: &'a MeanEnergy,
    /// Whether evictions check the load balance of the dies.
    watches_balance: bool,
    dirty_pages: u64,
}

impl BufferEnd<'_> {
    fn unbalanced_ratio(&self, counts: &BufferCounts) -> Option<f64> {
        ratio(counts.unbalanced, counts.evictions()).filter(|_| self.watches_balance)
    }
}

impl BufferSummary {
    /// Returns the section, or `None` without a buffer.
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
