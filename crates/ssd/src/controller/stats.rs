//! Statistics of an SSD.

use serde::{Deserialize, Serialize};
use wordline_ftl::MapCache;
use wordline_kernel::since;

use super::{ErrorCounts, FailureCounts, GradeCounts, IdleCounts, SlcCounts};
use crate::backend::Usage;

/// Statistics of an SSD that no observation carries.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SsdStats {
    /// Usage by die.
    pub usage: Vec<Usage>,
    /// Map lookups by outcome, if part of the map is in flash.
    pub map_cache: Option<MapCache>,
    /// Read errors, if reads can fail.
    pub read_errors: Option<ErrorCounts>,
    /// Failed programs and erases, if bad blocks are tracked.
    pub failures: Option<FailureCounts>,
    /// Operations by program mode, if there are several modes.
    pub graded: Option<Graded>,
    /// Statistics of the SLC cache, if there is one.
    pub slc_cache: Option<SlcCounts>,
    /// Idle periods, if GC or the SLC cache uses them.
    pub idle_periods: Option<IdleCounts>,
    /// Reads of pages that the DRAM buffer has lost. Count.
    pub lost_reads: u64,
}

since!(SsdStats: usage, map_cache, read_errors, failures, graded, slc_cache, idle_periods, lost_reads);

/// Operations and wear by program mode.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Graded {
    /// Operations by mode.
    pub counts: GradeCounts,
    /// Wear by block, in thousandths of the wear of a program in medium mode.
    pub wear: Vec<u64>,
    /// Programs that caused wear. Count.
    pub programs: u64,
}

since!(Graded: counts, wear, programs);
