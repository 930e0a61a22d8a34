//! Section `flash.programmed` of the summary: bytes programmed, by purpose.

use schemars::JsonSchema;
use serde::Serialize;

use wordline_ftl::Programmed;
use wordline_recorder::FlashCounts;

section! {
    /// Bytes programmed in flash, by purpose. Each byte counts once. Their sum is
    /// `flash.programmed_bytes`; divided by `flash.host_written_bytes` they are the components of
    /// `flash.write_amplification`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
    #[schemars(rename = "ProgrammedBytes")]
    pub struct ProgrammedSummary by new(flash: &FlashCounts);

    /// Data that the host, a cache or an array wrote, or that the DRAM buffer destaged. A buffer
    /// destages whole sectors.
    host_bytes: u64 = flash.programmed(Programmed::Host);
    /// The rest of partially written pages: data read from flash before the write
    /// (`flash.read_modify_writes`), or padding.
    fill_bytes: u64 = flash.programmed(Programmed::Fill);
    /// Valid pages that garbage collection moved out of a block (kind `move`).
    gc_bytes: u64 = flash.programmed(Programmed::Gc);
    /// Pages that merges of block and log-block mappings copied (kinds `switch`, `partial`, `full`).
    merge_bytes: u64 = flash.programmed(Programmed::Merge);
    /// Pages moved for wear levelling.
    wear_bytes: u64 = flash.programmed(Programmed::Wear);
    /// Pages folded from the SLC cache.
    fold_bytes: u64 = flash.programmed(Programmed::Fold);
    /// Pages moved by read reclaim and refresh, before their data became unreadable.
    refresh_bytes: u64 = flash.programmed(Programmed::Refresh);
    /// Pages programmed again to make their reads faster (`regulation.rewrites`).
    rewrite_bytes: u64 = flash.programmed(Programmed::Rewrite);
    /// Map pages, records of erases and of dead pages, and pages that only fill a block.
    map_bytes: u64 = flash.programmed(Programmed::Map);
    /// Summaries of blocks, each of which lists the pages of its block.
    summary_bytes: u64 = flash.programmed(Programmed::Summary);
    /// Pages programmed in a spare block after a failed program: those copied
    /// (`bad_blocks.pages_copied`), and the repeated page.
    spare_bytes: u64 = flash.programmed(Programmed::Spare);
}
