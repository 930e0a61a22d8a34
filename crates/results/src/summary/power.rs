//! Section `power` of the summary: power cuts.

use schemars::JsonSchema;
use serde::Serialize;
use wordline_recorder::Power;

section! {
    /// Power cuts and the recoveries from them.
    #[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
    #[schemars(rename = "Power")]
    pub struct PowerSummary by of(power: &Power, lost: u64);

    /// Power cuts (--power-cut-every). The whole table is null without one.
    cuts: u64 = power.cuts;
    /// Requests in progress at a power cut. No other metric includes them.
    requests_lost: u64 = lost;
    /// Pages of the DRAM buffer that were newer than on flash at a power cut and were lost. For the
    /// write cache of a disk, units of 4 KiB.
    pages_lost: u64 = power.cost.pages_lost.into();
    /// Pages of the DRAM buffer that were newer than on flash at a power cut and were saved by the
    /// buffer's capacitors.
    pages_saved: u64 = power.cost.pages_saved.into();
    /// Pages whose program a power cut interrupted. They cannot be read.
    pages_torn: u64 = power.cost.pages_torn.into();
    /// Blocks whose erase a power cut interrupted.
    erases_torn: u64 = power.cost.erases_torn.into();
    /// Pages whose spare areas the recoveries read, including one page per erased block.
    recovery_pages_read: u64 = power.cost.pages_read;
    /// Blocks that the recoveries erased.
    recovery_blocks_erased: u64 = power.cost.blocks_erased.into();
    /// Pages of a cache that were newer than on the disk at a power cut and were restored from
    /// flash.
    cache_pages_restored: u64 = power.cost.dirty_restored.into();
    /// Pages of a cache that were the same as on the disk at a power cut. The cache drops them.
    cache_pages_dropped: u64 = power.cost.clean_dropped.into();
    /// Mean time of a recovery: its reads and erases, in parallel on all dies.
    recovery_mean_ms: f64 = power.cost.time.as_secs() * 1e3 / power.cuts as f64;
    /// Time of the longest recovery.
    recovery_longest_ms: f64 = power.longest.as_secs() * 1e3;
}

impl PowerSummary {
    /// Returns the section, or `None` if power never failed. `lost` is the number of requests in
    /// progress at power cuts.
    pub(super) fn new(power: &Power, lost: u64) -> Option<Self> {
        (power.cuts > 0).then(|| Self::of(power, lost))
    }
}
