//! Losses and recovery costs of a power cut.

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

/// Losses and recovery costs of a power cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PowerCut {
    /// Requests in progress that were lost; the host must submit them again. Count.
    pub requests_lost: u32,
    /// Dirty pages in the DRAM buffer that were lost; for the write cache of a disk, in units of 4
    /// KiB. Count.
    pub pages_lost: u32,
    /// Dirty pages in the DRAM buffer that the buffer's capacitors saved. Count.
    pub pages_saved: u32,
    /// Pages that were being programmed and are unreadable. Count.
    pub pages_torn: u32,
    /// Blocks that were being erased. Count.
    pub erases_torn: u32,
    /// Pages whose spare areas were read in recovery. Count.
    pub pages_read: u64,
    /// Blocks erased in recovery. Count.
    pub blocks_erased: u32,
    /// Dirty pages of a flash cache that were recovered from its flash. Count.
    pub dirty_restored: u32,
    /// Clean pages of a flash cache that were dropped. Count.
    pub clean_dropped: u32,
    /// Duration of the recovery: reads and erases spread over the dies, which work in parallel.
    pub time: Time,
}

impl PowerCut {
    /// Adds the costs of another device that lost power in the same cut; both recover in parallel.
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
