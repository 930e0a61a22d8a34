//! Counts and times of an SSD.

use serde::{Deserialize, Serialize};
use wordline_ftl::MapCache;
use wordline_kernel::since;

use super::{ErrorCounts, FailureCounts, GradeCounts, SlcCounts};
use crate::backend::Usage;

/// Counts and times of an SSD that no observation carries.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SsdStats {
    /// By die: what it was used for.
    pub usage: Vec<Usage>,
    /// Look-ups by outcome, if part of the map is in flash.
    pub map_cache: Option<MapCache>,
    /// Errors that reads have found, if reads can err.
    pub read_errors: Option<ErrorCounts>,
    /// Failed programs and erases, if blocks can go bad.
    pub failures: Option<FailureCounts>,
    /// Pages by program mode, if pages are not all programmed alike.
    pub graded: Option<Graded>,
    /// Pages that went through the SLC cache, if there is one.
    pub slc_cache: Option<SlcCounts>,
    /// Reads of pages that the DRAM buffer has lost.
    pub lost_reads: u64,
}

since!(SsdStats: usage, map_cache, read_errors, failures, graded, slc_cache, lost_reads);

/// Pages and wear by program mode.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Graded {
    /// Pages by mode.
    pub counts: GradeCounts,
    /// By block: wear, in thousandths of that of a medium program.
    pub wear: Vec<u64>,
    /// Programs that have worn.
    pub programs: u64,
}

since!(Graded: counts, wear, programs);
