//! What an SSD has done.

use serde::{Deserialize, Serialize};
use wordline_ftl::{MapCache, Mapping};
use wordline_kernel::since;

use super::Ssd;
use crate::backend::Usage;
use crate::controller::{ErrorCounts, FailureCounts, GradeCounts, SlcCounts};

/// Counts and times of an SSD that no observation carries.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Activity {
    /// By die: what it was used for.
    pub usage: Vec<Usage>,
    /// What became of look-ups, if part of the map is in flash.
    pub map_cache: Option<MapCache>,
    /// What reads have found, where they err.
    pub read_errors: Option<ErrorCounts>,
    /// What has come of programs and erases that failed, where blocks can go bad.
    pub failures: Option<FailureCounts>,
    /// What was done of each mode, where pages are not all programmed alike.
    pub graded: Option<Graded>,
    /// What went through the SLC cache, if there is one.
    pub slc_cache: Option<SlcCounts>,
    /// Reads of pages that the DRAM buffer has lost.
    pub lost_reads: u64,
}

since!(Activity: usage, map_cache, read_errors, failures, graded, slc_cache, lost_reads);

/// What was done of each mode.
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

impl Activity {
    /// Since the start.
    pub(super) fn of<M: Mapping>(ssd: &Ssd<M>) -> Self {
        let modes = ssd.array().modes();
        let graded = modes.zip(ssd.graded()).map(|(modes, counts)| Graded {
            counts: *counts,
            wear: modes.wear().to_vec(),
            programs: modes.programs(),
        });
        Self {
            usage: ssd.usage().collect(),
            map_cache: ssd.mapping().map_cache(),
            read_errors: ssd.read_errors().copied(),
            failures: ssd.failures().copied(),
            graded,
            slc_cache: ssd.slc_counts().copied(),
            lost_reads: ssd.lost_reads(),
        }
    }
}
