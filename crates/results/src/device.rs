//! State of the SSDs at the end of a run.

use wordline_ftl::precondition::Preconditioned;
use wordline_ftl::{MapCache, Mapping};
use wordline_nand::Cause;
use wordline_ssd::{
    ErrorCounts, FailureCounts, Graded, IdleCounts, SlcCounts, Ssd, SsdStats, Usage,
};

/// State of an SSD at the end of a run.
#[derive(Clone, Debug)]
pub struct Device {
    /// Counts of the preconditioning before the run.
    pub preconditioned: Preconditioned,
    /// Erases of each block.
    pub erases: Vec<u32>,
    /// Breakdown of each die's time.
    pub usage: Vec<Usage>,
    /// Pages that the host can address.
    pub user_pages: u32,
    /// Pages that hold current data.
    pub valid_pages: u64,
    /// Erased blocks.
    pub free_blocks: u32,
    /// Pages in the DRAM buffer that are newer than on flash.
    pub dirty_pages: u64,
    /// Look-ups in the cached map during the run; `None` if the whole map is in memory.
    pub map_cache: Option<MapCache>,
    /// Outcomes of page reads; `None` if reads cannot fail.
    pub read_errors: Option<ErrorCounts>,
    /// Bad and spare blocks; `None` if blocks cannot be bad.
    pub bad_blocks: Option<BadBlockDevice>,
    /// Counts per program mode; `None` if all pages are programmed in one mode.
    pub graded: Option<Graded>,
    /// Counts of the SLC cache; `None` without one.
    pub slc_cache: Option<SlcCounts>,
    /// Counts of idle periods; `None` if neither GC nor an SLC cache uses them.
    pub idle_periods: Option<IdleCounts>,
    /// Page reads compared with the content oracle, and page writes tracked; `None` without
    /// `--verify`.
    pub verified: Option<(u64, u64)>,
}

/// Bad and spare blocks of an SSD. Counts.
#[derive(Clone, Copy, Debug)]
pub struct BadBlockDevice {
    /// Bad blocks, by cause: factory, failed erase, failed program.
    pub bad: [u32; 3],
    /// Good spare blocks.
    pub spare: u32,
    /// Good spare blocks of the plane that has the fewest.
    pub spare_fewest: u32,
    /// Spare blocks that replaced grown bad blocks.
    pub taken: u32,
    /// Good blocks in use.
    pub in_use: u32,
    /// Counts of program and erase failures.
    pub failures: FailureCounts,
    /// Reads of pages whose content the DRAM buffer lost.
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
    /// Collects the state of an SSD at the end of a run. `preconditioned` are the counts of the
    /// preconditioning before it.
    pub fn of<M: Mapping>(ssd: &Ssd<M>, preconditioned: Preconditioned) -> Self {
        let oracle = ssd.content_oracle();
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
            idle_periods: activity.idle_periods,
            verified: oracle.map(|oracle| (oracle.reads_checked, oracle.writes_followed)),
        }
    }
}
