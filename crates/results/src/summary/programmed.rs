//! Bytes that the flash has programmed, by purpose.

use schemars::JsonSchema;
use serde::Serialize;
use wordline_ssd::Programmed;

use wordline_recorder::FlashCounts;

/// Bytes that the flash has programmed, by purpose. Each counts once; their sum is `flash.programmed_bytes`, and divided by
/// `flash.host_written_bytes` they are the parts of `flash.write_amplification`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ProgrammedBytes")]
pub struct ProgrammedSummary {
    /// Data that the host wrote, or that the DRAM buffer destaged, or that a cache or an array put there. From a buffer in whole sectors.
    pub host_bytes: u64,
    /// The rest of the pages of which a part was written: read from the flash before (`flash.read_modify_writes`), or padding.
    pub fill_bytes: u64,
    /// Valid pages that garbage collection moved out of a block (kind `move`).
    pub gc_bytes: u64,
    /// Pages that merges of log-block mappings copied (kinds `switch`, `partial`, `full`).
    pub merge_bytes: u64,
    /// Pages that moved for even wear.
    pub wear_bytes: u64,
    /// Pages that were folded from the SLC cache.
    pub fold_bytes: u64,
    /// Pages that read reclaim and refresh moved because their data would have become unreadable.
    pub refresh_bytes: u64,
    /// Pages that were programmed again so that their reads take less time (`regulation.rewrites`).
    pub rewrite_bytes: u64,
    /// Parts of the map, records of erases and of dead pages, and pages that only fill a block.
    pub map_bytes: u64,
    /// Summaries of blocks.
    pub summary_bytes: u64,
    /// Pages that went to spare blocks because a program had failed: those copied there (`bad_blocks.pages_copied`), and the page of the
    /// program once more.
    pub spare_bytes: u64,
}

impl ProgrammedSummary {
    pub(super) fn new(flash: &FlashCounts) -> Self {
        let of = |kind: Programmed| flash.programmed[kind as usize];
        Self {
            host_bytes: of(Programmed::Host),
            fill_bytes: of(Programmed::Fill),
            gc_bytes: of(Programmed::Gc),
            merge_bytes: of(Programmed::Merge),
            wear_bytes: of(Programmed::Wear),
            fold_bytes: of(Programmed::Fold),
            refresh_bytes: of(Programmed::Refresh),
            rewrite_bytes: of(Programmed::Rewrite),
            map_bytes: of(Programmed::Map),
            summary_bytes: of(Programmed::Summary),
            spare_bytes: of(Programmed::Spare),
        }
    }
}
