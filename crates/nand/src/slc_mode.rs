//! What a page takes in single-level mode.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Array times of pages in blocks that are programmed with one bit a cell (`[nand.slc_mode]`), for an SLC cache (`ftl.slc_cache`). A block holds
/// as many pages less as `nand.cell` has bits. Everything else is as `nand.timing` says: bus, erase, deviations.
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

/// Of single-level cells: 25 us and the low end of 200 to 300 us (Hewlett-Packard, Solid State Drive Technology: Differences between SLC,
/// MLC and TLC NAND, table 1).
impl Default for SlcMode {
    fn default() -> Self {
        Self {
            read_ns: 25_000,
            program_ns: 200_000,
        }
    }
}
