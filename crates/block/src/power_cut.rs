//! What a power cut costs.

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

/// What a power cut cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PowerCut {
    /// Requests that were under way; the host has to ask again.
    pub requests_lost: u32,
    /// Pages in the DRAM buffer that were newer than the flash, and are lost; of the write cache of a disk, 4 KiB each.
    pub pages_lost: u32,
    /// Pages in the DRAM buffer that were newer than the flash, and were saved by its capacitors.
    pub pages_saved: u32,
    /// Pages that were being programmed and cannot be read.
    pub pages_torn: u32,
    /// Blocks that were being erased.
    pub erases_torn: u32,
    /// Pages whose spare areas the recovery read.
    pub pages_read: u64,
    /// Blocks that the recovery erased.
    pub blocks_erased: u32,
    /// Pages of a cache that were newer than the store below, and have come back from its flash.
    pub dirty_restored: u32,
    /// Pages of a cache that were as in the store below, and are not in it any more.
    pub clean_dropped: u32,
    /// How long the recovery took: reads and erases spread over the dies, which work side by side.
    pub time: Time,
}

impl PowerCut {
    /// With that of another device, at the same time: they recover side by side.
    pub fn join(&mut self, other: &Self) {
        self.requests_lost += other.requests_lost;
        self.pages_lost += other.pages_lost;
        self.pages_saved += other.pages_saved;
        self.pages_torn += other.pages_torn;
        self.erases_torn += other.erases_torn;
        self.pages_read += other.pages_read;
        self.blocks_erased += other.blocks_erased;
        self.dirty_restored += other.dirty_restored;
        self.clean_dropped += other.clean_dropped;
        self.time = self.time.max(other.time);
    }
}
