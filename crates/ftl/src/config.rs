//! Configuration of the `[ftl]` table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::allocate::Allocate;
use crate::gc::check::Check;
use crate::gc::reclaim::Reclaiming;
use crate::gc::schedule::Scheduling;
use crate::gc::victim::Victim;
use crate::mapping::Family;
use crate::program_mode::Regulation;
use crate::refresh::Refresh;
use crate::slc_cache::SlcCache;
use crate::trim::Trim;
use crate::wear::Wear;

/// Flash translation layer (`[ftl]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Share of the flash that the host cannot address: (total - user) / total. Ratio.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub over_provisioning_ratio: f64,
    /// Spare blocks per plane. They replace factory bad blocks
    /// (`nand.reliability.factory_bad_ratio`) and blocks that fail (`nand.reliability.failures`).
    /// They are part of the capacity that the host cannot address, and have no other use. Count.
    #[schemars(range(min = 0, max = 16_777_215))]
    pub spare_blocks: u32,
    /// Mapping of logical pages to physical pages.
    pub mapping: Family,
    /// Policy that selects the plane of the next host write.
    pub allocate: Allocate,
    /// Garbage collection.
    pub gc: Gc,
    /// Wear levelling: policy that selects the free block to write next.
    pub wear: Wear,
    /// Refresh of data in blocks that were read too often or programmed too long ago.
    pub refresh: Refresh,
    /// Policy that selects the program mode of each page, out of the modes of `nand.programming`,
    /// and the pages to rewrite.
    pub regulation: Regulation,
    /// SLC cache: blocks that take host writes in single-level mode; their data is later folded
    /// into normal blocks. Page mapping only; `nand.slc_mode` sets the times of that mode.
    pub slc_cache: SlcCache,
    /// Handling of TRIM requests.
    pub trim: Trim,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            over_provisioning_ratio: 0.15,
            spare_blocks: 0,
            mapping: Family::default(),
            allocate: Allocate::default(),
            gc: Gc::default(),
            wear: Wear::default(),
            refresh: Refresh::default(),
            regulation: Regulation::default(),
            slc_cache: SlcCache::default(),
            trim: Trim::default(),
        }
    }
}

/// Garbage collection (`[ftl.gc]`), per plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Gc {
    /// Policy that decides when GC runs.
    pub schedule: Scheduling,
    /// Policy that selects the block to reclaim.
    pub victim: Victim,
    /// Policy that selects the valid pages of the victim to move before its erase.
    pub reclaim: Reclaiming,
    /// Point at which the free blocks of a plane are compared with the threshold. `each-page`:
    /// after each page allocated in the plane for the host, and after each GC run of the plane.
    /// `full-block`: when the last page of the host's active block is taken (page mapping only,
    /// without an SLC cache or allocation on issue).
    pub check: Check,
    /// Free-block threshold: GC of a plane runs while it has fewer free blocks. Share of the
    /// plane's blocks, rounded down; the threshold is at least one block above the reserve, plus
    /// the blocks that a wear-levelling move takes (`ftl.wear.static`). `check` determines when the
    /// blocks are compared. Ratio.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub start_free_ratio: f64,
    /// Free-block threshold in blocks, instead of `start_free_ratio`: GC of a plane runs while it
    /// has fewer free blocks. If the threshold does not exceed the GC reserve (such as 0), GC runs
    /// only when a write finds no room in the plane, and only until the write has a page. Such a
    /// threshold requires page mapping, without static wear levelling, an SLC cache or allocation
    /// on issue. By default, the ratio applies. Count.
    #[schemars(range(min = 0, max = 16_777_215))]
    pub start_free_blocks: Option<u32>,
    /// Free-page threshold, instead of `start_free_ratio`: GC of a plane runs while it has this
    /// number of free pages or fewer, including those of its active blocks; 0 uses the ratio.
    /// `check` determines when the pages are compared. Page mapping only. Pages.
    #[schemars(range(min = 0, max = 4_294_967_295_u32))]
    pub start_free_pages: u32,
    /// GC reserve: free blocks that only GC may take; host writes wait instead. Share of a plane's
    /// blocks, rounded down, but at least one block (`data_blocks` blocks with `hybrid` mapping).
    /// Ratio.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub hard_free_ratio: f64,
    /// GC reserve in blocks, instead of `hard_free_ratio`. At least 1 (`data_blocks` with `hybrid`
    /// mapping), or 0 if no page is moved (`ftl.gc.reclaim = "zero-migration"` in a cache that
    /// keeps no writes, without `ftl.wear.static`). By default, the ratio applies. Count.
    #[schemars(range(min = 0, max = 16_777_215))]
    pub hard_free_blocks: Option<u32>,
    /// Whether pages that GC moves go to a separate active block. Otherwise they go to the host's
    /// active block.
    pub own_block: bool,
    /// Whether a page is moved by one command inside its plane (internal data move, copyback),
    /// instead of being read and programmed over the bus. The part must support it:
    /// `nand.internal_data_move`.
    pub internal_data_move: bool,
}

impl Default for Gc {
    fn default() -> Self {
        Self {
            schedule: Scheduling::default(),
            victim: Victim::default(),
            reclaim: Reclaiming::default(),
            check: Check::default(),
            start_free_ratio: 0.05,
            start_free_blocks: None,
            start_free_pages: 0,
            hard_free_ratio: 0.005,
            hard_free_blocks: None,
            own_block: true,
            internal_data_move: false,
        }
    }
}
