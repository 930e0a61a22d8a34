//! The SSDs of a run: the single one, those of an array, the flash of caches.

use wordline_device::precondition::{self, Preconditioned};
use wordline_device::{
    Activity, ErrorCounts, FailureCounts, Graded, Precondition, SlcCounts, Ssd, Usage,
};
use wordline_ftl::{Map, MapCache, Mapping};
use wordline_kernel::memory::dense;
use wordline_nand::Cause;

use crate::error::SimulationError;
use crate::memory::fill;
use wordline_config::Plan;
use wordline_config::plan::{self, Settle};

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
    fn of<M: Mapping>(ssd: &Ssd<M>, activity: &Activity) -> Option<Self> {
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
    pub(crate) fn of<M: Mapping>(ssd: &Ssd<M>, preconditioned: Preconditioned) -> Self {
        let shadow = ssd.shadow();
        let activity = ssd.activity();
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

/// The share of its pages that a device is filled with from which its tables are written to nearly everywhere.
const MOSTLY: f64 = 0.5;

/// The pristine SSDs of a plan that are no caches, in their order.
pub(crate) fn pristine(plan: &Plan) -> Vec<Ssd<Map>> {
    let streams = &plan.streams;
    let own = plan.own_ssds().into_iter();
    let build = |ssd: &plan::Ssd| Ssd::new(&ssd.device(streams), Map::new(&ssd.device.ftl));
    own.map(|(_, ssd)| dense(fill(ssd).logical > MOSTLY, || build(ssd)))
        .collect()
}

/// Brings the devices into the state in which they are measured, one after the other. `go_on` hears
/// how many pages have been written and what share of all, if that is known, and may end it early;
/// what is then left is not touched.
pub(crate) fn prepare(
    plan: &Plan,
    ssds: &mut [Ssd<Map>],
    mut go_on: impl FnMut(u64, Option<f64>) -> bool,
) -> Result<Vec<Preconditioned>, SimulationError> {
    let pages = |device: &plan::Ssd| {
        u64::from(device.precondition.fill_pages) + device.precondition.overwrite_pages
    };
    let own = plan.own_ssds();
    let total: u64 = own.iter().map(|(_, ssd)| pages(ssd)).sum();
    let mut all = vec![Preconditioned::default(); ssds.len()];
    let mut before = 0;
    for (place, ((leaf, device), ssd)) in own.iter().zip(ssds).enumerate() {
        let prepared = ssd.precondition(&precondition(device), |pages| {
            let done = before + pages;
            go_on(
                done,
                (total > 0).then(|| (done as f64 / total as f64).min(1.0)),
            )
        });
        all[place] = prepared.map_err(|error| {
            if plan.has_members() {
                return SimulationError::Array(wordline_store::ArrayError::Member {
                    name: leaf.name.clone(),
                    error,
                });
            }
            SimulationError::Device(error)
        })?;
        if all[place].stopped {
            break;
        }
        before += pages(device);
    }
    Ok(all)
}

fn precondition(plan: &plan::Ssd) -> Precondition {
    let settle = match plan.precondition.settle {
        Settle::No => None,
        Settle::Until {
            tolerance_ratio,
            limit_pages,
        } => Some(precondition::Settle {
            tolerance_ratio,
            limit_pages,
        }),
    };
    Precondition {
        fill_pages: plan.precondition.fill_pages,
        scattered: plan.precondition.scattered,
        overwrite_pages: plan.precondition.overwrite_pages,
        settle,
        seed: plan.seed,
    }
}
