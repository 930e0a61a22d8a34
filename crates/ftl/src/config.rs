//! The `[ftl]` table.

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

/// The flash translation layer (`[ftl]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Share of the flash that the host cannot address: (total - user) / total. Ratio.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub over_provisioning_ratio: f64,
    /// Blocks of every plane that stand by to take the place of bad ones: those bad from the factory
    /// (`nand.reliability.factory_bad_ratio`) and those that go bad (`nand.reliability.failures`). They are part of the flash that the
    /// host cannot address, and nothing else uses them. Count.
    #[schemars(range(min = 0, max = 16_777_215))]
    pub spare_blocks: u32,
    /// Where a logical page is.
    pub mapping: Family,
    /// Which plane gets the next page.
    pub allocate: Allocate,
    /// Garbage collection.
    pub gc: Gc,
    /// Which block gets which data.
    pub wear: Wear,
    /// How a block's data moves that was read too often, or has lain too long.
    pub refresh: Refresh,
    /// How pages are programmed, of those ways that `nand.programming` has, and which are written again.
    pub regulation: Regulation,
    /// Which blocks take the writes of the host in single-level mode, before they are folded (SLC cache). Page mapping only; the times of that mode are `nand.slc_mode`.
    pub slc_cache: SlcCache,
    /// What becomes of a TRIM.
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

/// Garbage collection (`[ftl.gc]`), plane by plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Gc {
    /// When collections run.
    pub schedule: Scheduling,
    /// Which block is collected.
    pub victim: Victim,
    /// Which pages of it are moved before it is erased.
    pub reclaim: Reclaiming,
    /// When the free blocks of a plane are compared with the threshold: `each-page`, after each page that is placed in it for the host and after
    /// each of its collections, or `full-block`, when the open block of the host has taken its last page.
    pub check: Check,
    /// Threshold: a plane collects while its free blocks are fewer than this share of its blocks, rounded
    /// down, and at least one more than the reserve. `check` says when they are compared. Ratio.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub start_free_ratio: f64,
    /// Threshold in blocks, in place of `start_free_ratio`: a plane collects while fewer of its blocks are free. With a number up to the reserve, such as
    /// 0, it collects only when a write finds no room in it, until the write has a place; page mapping only. By default, the ratio decides. Count.
    #[schemars(range(min = 0, max = 16_777_215))]
    pub start_free_blocks: Option<u32>,
    /// Threshold in pages, in place of `start_free_ratio`: a plane collects while this many of its pages or fewer are free, those of its open blocks
    /// included; 0 for the ratio. `check` says when they are compared. Page mapping only. Pages.
    #[schemars(range(min = 0, max = 4_294_967_295_u32))]
    pub start_free_pages: u32,
    /// Free blocks reserved for garbage collection: the host waits rather than take one of them.
    /// Share of a plane's blocks, rounded down, at least one block. Ratio.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub hard_free_ratio: f64,
    /// Reserve in blocks, in place of `hard_free_ratio`. At least 1; 0 is possible where collections move no page (`ftl.gc.reclaim =
    /// "zero-migration"` in a cache that keeps no writes). By default, the ratio decides. Count.
    #[schemars(range(min = 0, max = 16_777_215))]
    pub hard_free_blocks: Option<u32>,
    /// Whether moved pages go to an active block of their own instead of the host's.
    pub own_block: bool,
    /// Whether a page is moved by one command inside its plane (internal data move, copyback) rather than read and programmed over the bus. The part has to be able to: `nand.internal_data_move`.
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
