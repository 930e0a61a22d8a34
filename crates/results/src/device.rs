//! SSDs at the end of a run.

use wordline_ftl::{MapCache, Mapping};
use wordline_nand::Cause;
use wordline_ssd::precondition::Preconditioned;
use wordline_ssd::{ErrorCounts, FailureCounts, Graded, SlcCounts, Ssd, SsdStats, Usage};

/// What a device is like at the end of a run.
#[derive(Clone, Debug)]
pub struct Device {
    /// What happened to it before the run.
    pub preconditioned: Preconditioned,
    /// By block: erases.
    pub erases: Vec<u32>,
    /// By die: what it was used for.
    pub usage: Vec<Usage>,
    /// Pages that the host can address.
    pub user_pages: u32,
    /// Pages that hold current data.
    pub valid_pages: u64,
    /// Erased blocks.
    pub free_blocks: u32,
    /// Pages in the DRAM buffer that are newer than the flash.
    pub dirty_pages: u64,
    /// What became of look-ups during the run, if part of the map is in flash.
    pub map_cache: Option<MapCache>,
    /// What reads have found, where they err.
    pub read_errors: Option<ErrorCounts>,
    /// Which blocks are bad, where blocks can be.
    pub bad_blocks: Option<BadBlockDevice>,
    /// What was done of each mode, where pages are not all programmed alike.
    pub graded: Option<Graded>,
    /// What went through the SLC cache, if there is one.
    pub slc_cache: Option<SlcCounts>,
    /// Page reads compared with the shadow store, and page writes followed, if the run was verified.
    pub verified: Option<(u64, u64)>,
}

/// Bad and spare blocks.
#[derive(Clone, Copy, Debug)]
pub struct BadBlockDevice {
    /// Bad ones: from the factory, by erases, by programs.
    pub bad: [u32; 3],
    /// Good ones that stand by.
    pub spare: u32,
    /// The same in the plane that has fewest.
    pub spare_fewest: u32,
    /// Those that took the place of blocks that went bad in use.
    pub taken: u32,
    /// Good ones in use.
    pub in_use: u32,
    /// What has come of failures.
    pub failures: FailureCounts,
    /// Reads of pages that the DRAM buffer has lost.
    pub lost_reads: u64,
}

impl BadBlockDevice {
    fn of<M: Mapping>(ssd: &Ssd<M>, activity: &SsdStats) -> Option<Self> {
        let bad = ssd.array().bad_blocks()?;
        let grown = bad.table().iter().filter(|one| one.cause != Cause::Factory);
        let taken = grown.filter(|one| one.spare.is_some()).count();
        Some(Self {
            bad: [Cause::Factory, Cause::Erase, Cause::Program].map(|cause| bad.count(cause)),
            spare: bad.spares(),
            spare_fewest: bad.fewest_spares(),
            taken: taken as u32,
            in_use: bad.in_use(),
            failures: activity.failures?,
            lost_reads: activity.lost_reads,
        })
    }
}

impl Device {
    /// The state of an SSD that was brought there by `preconditioned` and a run.
    pub fn of<M: Mapping>(ssd: &Ssd<M>, preconditioned: Preconditioned) -> Self {
        let shadow = ssd.shadow();
        let activity = ssd.measured();
        Self {
            preconditioned,
            erases: ssd.array().erases().to_vec(),
            bad_blocks: BadBlockDevice::of(ssd, &activity),
            usage: activity.usage,
            user_pages: ssd.mapping().user_pages(),
            valid_pages: ssd.mapping().valid_pages(),
            free_blocks: ssd.mapping().free_blocks(),
            dirty_pages: ssd.dirty_pages().into(),
            map_cache: activity.map_cache,
            read_errors: activity.read_errors,
            graded: activity.graded,
            slc_cache: activity.slc_cache,
            verified: shadow.map(|shadow| (shadow.reads_checked, shadow.writes_followed)),
        }
    }
}
