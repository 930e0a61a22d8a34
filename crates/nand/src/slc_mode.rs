//! Array times in single-level mode.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Array times of pages in blocks that are programmed with one bit per cell (`[nand.slc_mode]`),
/// for an SLC cache (`ftl.slc_cache`). Such a block holds 1/n of its pages, where n is the bits per
/// cell of `nand.cell`. Bus times, erase time and jitter are those of `nand.timing`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SlcMode {
    /// tR of a page. Nanoseconds.
    #[schemars(range(min = 1, max = 10_000_000_000_u64))]
    pub read_ns: u64,
    /// tPROG of a page. Nanoseconds.
    #[schemars(range(min = 1, max = 10_000_000_000_u64))]
    pub program_ns: u64,
}

/// Times of single-level cells (Hewlett-Packard, Solid State Drive Technology: Differences between
/// SLC, MLC and TLC NAND, table 1): a read takes 25 us; a program takes 200 us, the low end of the
/// range of 200 to 300 us.
impl Default for SlcMode {
    fn default() -> Self {
        Self {
            read_ns: 25_000,
            program_ns: 200_000,
        }
    }
}
