//! Power cuts.

use schemars::JsonSchema;
use serde::Serialize;
use wordline_recorder::Power;

/// Power cuts and the recoveries from them.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Power")]
pub struct PowerSummary {
    /// Power cuts; the table is there with --power-cut-every.
    pub cuts: u64,
    /// Requests that were under way then; they are in no other number.
    pub requests_lost: u64,
    /// Pages in the DRAM buffer that were newer than the flash then, and are lost; of the write cache of a disk, 4 KiB each.
    pub pages_lost: u64,
    /// Pages in the DRAM buffer that were newer than the flash then, and were saved by its capacitors.
    pub pages_saved: u64,
    /// Pages that were being programmed then and cannot be read.
    pub pages_torn: u64,
    /// Blocks that were being erased then.
    pub erases_torn: u64,
    /// Pages whose spare areas the recoveries read; one of every erased block.
    pub recovery_pages_read: u64,
    /// Blocks that the recoveries erased.
    pub recovery_blocks_erased: u64,
    /// Pages of a cache that were newer than the disk then, and came back from the flash.
    pub cache_pages_restored: u64,
    /// Pages of a cache that were as on the disk then: the cache comes back without them.
    pub cache_pages_dropped: u64,
    /// Mean time of a recovery: its reads and erases, spread over the dies.
    pub recovery_mean_ms: f64,
    /// The longest recovery.
    pub recovery_longest_ms: f64,
}

impl PowerSummary {
    /// None if the power never failed.
    pub(super) fn new(power: &Power, requests_lost: u64) -> Option<Self> {
        let cost = power.cost;
        (power.cuts > 0).then(|| Self {
            cuts: power.cuts,
            requests_lost,
            pages_lost: cost.pages_lost.into(),
            pages_saved: cost.pages_saved.into(),
            pages_torn: cost.pages_torn.into(),
            erases_torn: cost.erases_torn.into(),
            recovery_pages_read: cost.pages_read,
            recovery_blocks_erased: cost.blocks_erased.into(),
            cache_pages_restored: cost.dirty_restored.into(),
            cache_pages_dropped: cost.clean_dropped.into(),
            recovery_mean_ms: cost.time.as_secs() * 1e3 / power.cuts as f64,
            recovery_longest_ms: power.longest.as_secs() * 1e3,
        })
    }
}
