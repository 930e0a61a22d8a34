//! Bytes that the flash has programmed, by purpose.

use schemars::JsonSchema;
use serde::Serialize;
use wordline_ssd::Programmed;

use wordline_recorder::FlashCounts;

section! {
    /// Bytes that the flash has programmed, by purpose. Each counts once; their sum is `flash.programmed_bytes`, and divided by
    /// `flash.host_written_bytes` they are the parts of `flash.write_amplification`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
    #[schemars(rename = "ProgrammedBytes")]
    pub struct ProgrammedSummary by new(flash: &FlashCounts);

    /// Data that the host wrote, or that the DRAM buffer destaged, or that a cache or an array put there. From a buffer in whole sectors.
    host_bytes: u64 = flash.programmed(Programmed::Host);
    /// The rest of the pages of which a part was written: read from the flash before (`flash.read_modify_writes`), or padding.
    fill_bytes: u64 = flash.programmed(Programmed::Fill);
    /// Valid pages that garbage collection moved out of a block (kind `move`).
    gc_bytes: u64 = flash.programmed(Programmed::Gc);
    /// Pages that merges of log-block mappings copied (kinds `switch`, `partial`, `full`).
    merge_bytes: u64 = flash.programmed(Programmed::Merge);
    /// Pages that moved for even wear.
    wear_bytes: u64 = flash.programmed(Programmed::Wear);
    /// Pages that were folded from the SLC cache.
    fold_bytes: u64 = flash.programmed(Programmed::Fold);
    /// Pages that read reclaim and refresh moved because their data would have become unreadable.
    refresh_bytes: u64 = flash.programmed(Programmed::Refresh);
    /// Pages that were programmed again so that their reads take less time (`regulation.rewrites`).
    rewrite_bytes: u64 = flash.programmed(Programmed::Rewrite);
    /// Parts of the map, records of erases and of dead pages, and pages that only fill a block.
    map_bytes: u64 = flash.programmed(Programmed::Map);
    /// Summaries of blocks.
    summary_bytes: u64 = flash.programmed(Programmed::Summary);
    /// Pages that went to spare blocks because a program had failed: those copied there (`bad_blocks.pages_copied`), and the page of the
    /// program once more.
    spare_bytes: u64 = flash.programmed(Programmed::Spare);
}
