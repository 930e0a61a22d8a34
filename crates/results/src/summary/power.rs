//! Power cuts.

use schemars::JsonSchema;
use serde::Serialize;
use wordline_recorder::Power;

section! {
    /// Power cuts and the recoveries from them.
    #[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
    #[schemars(rename = "Power")]
    pub struct PowerSummary by of(power: &Power, lost: u64);

    /// Power cuts; the table is there with --power-cut-every.
    cuts: u64 = power.cuts;
    /// Requests that were under way then; they are in no other number.
    requests_lost: u64 = lost;
    /// Pages in the DRAM buffer that were newer than the flash then, and are lost; of the write cache of a disk, 4 KiB each.
    pages_lost: u64 = power.cost.pages_lost.into();
    /// Pages in the DRAM buffer that were newer than the flash then, and were saved by its capacitors.
    pages_saved: u64 = power.cost.pages_saved.into();
    /// Pages that were being programmed then and cannot be read.
    pages_torn: u64 = power.cost.pages_torn.into();
    /// Blocks that were being erased then.
    erases_torn: u64 = power.cost.erases_torn.into();
    /// Pages whose spare areas the recoveries read; one of every erased block.
    recovery_pages_read: u64 = power.cost.pages_read;
    /// Blocks that the recoveries erased.
    recovery_blocks_erased: u64 = power.cost.blocks_erased.into();
    /// Pages of a cache that were newer than the disk then, and came back from the flash.
    cache_pages_restored: u64 = power.cost.dirty_restored.into();
    /// Pages of a cache that were as on the disk then: the cache comes back without them.
    cache_pages_dropped: u64 = power.cost.clean_dropped.into();
    /// Mean time of a recovery: its reads and erases, spread over the dies.
    recovery_mean_ms: f64 = power.cost.time.as_secs() * 1e3 / power.cuts as f64;
    /// The longest recovery.
    recovery_longest_ms: f64 = power.longest.as_secs() * 1e3;
}

impl PowerSummary {
    /// None if the power never failed; `lost` requests were under way when it did.
    pub(super) fn new(power: &Power, lost: u64) -> Option<Self> {
        (power.cuts > 0).then(|| Self::of(power, lost))
    }
}
