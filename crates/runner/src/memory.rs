//! Memory estimate of a run, made before anything is built.

use wordline_config::Plan;
use wordline_config::plan::{self, Device, Settle};
use wordline_flash_cache::Cached;
use wordline_ftl::Map;
use wordline_hdd::Disk;
use wordline_host_cpu::Host;
use wordline_kernel::memory::{Fill, Table};
use wordline_memory::{Estimate, GEOMETRY};
use wordline_ssd::Ssd;

use wordline_recorder::Recorder;

/// Options of a run that take memory in addition to its devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Maximum number of rows of the request table, 0 if unknown. `None` if requests are not
    /// recorded.
    pub rows: Option<u64>,
    /// Whether every read is verified.
    pub verify: bool,
    /// Whether the run has power cuts.
    pub power_cuts: bool,
}

/// Returns the memory estimate of a run of `plan`.
pub fn estimate(plan: &Plan, checks: Checks) -> Estimate {
    let mut estimate = Estimate::of(&[]);
    for device in plan.ssds() {
        add_device(&mut estimate, device, plan, checks);
    }
    for leaf in plan.leaves() {
        if let Device::Cached(cached) = leaf.of {
            estimate.add(Cached::<Disk>::memory(&cached.cache), GEOMETRY);
        }
    }
    if let Some(side) = &plan.host_side {
        let (bytes, filled) = (plan.user_bytes(), plan.filled_bytes());
        let map = Host::<Disk>::memory(side, bytes, filled as f64 / bytes.max(1) as f64);
        estimate.add(map, "host_side.architecture.flash-software.unit_bytes");
    }
    let rows = Recorder::memory(plan, checks.rows);
    estimate.add(rows, "series.intervals, or leave out --requests");
    estimate
}

fn add_device(estimate: &mut Estimate, device: &plan::Ssd, whole: &Plan, checks: Checks) {
    let fill = fill(device);
    let plan = device.device(&whole.streams);
    estimate.add(Map::memory(&ftl(device, checks.power_cuts), fill), GEOMETRY);
    estimate.add(Ssd::<Map>::memory(&plan, fill), GEOMETRY);
    if checks.verify {
        estimate.add(Ssd::<Map>::memory_verified(&plan, fill), "--verify");
    }
    if checks.power_cuts {
        let spares = Ssd::<Map>::memory_with_power_cuts(&plan, fill);
        estimate.add(spares, "--power-cut-every");
    }
    let blocks = u64::from(device.device.part.layout.blocks());
    estimate.add(
        [Table::written::<u32>(
            "erases of each block, in the results",
            blocks,
        )],
        GEOMETRY,
    );
}

/// Returns the maximum number of generated requests in a run of `plan`; `None` if it generates
/// none.
pub fn generated(plan: &Plan) -> Option<u64> {
    let streams = plan.streams.iter().map(|stream| &stream.workload);
    let loads = streams.chain([&plan.workload]).flatten();
    loads.map(|load| load.requests).reduce(u64::saturating_add)
}

/// Share of filled pages above which a device counts as full. Nearly all memory of its tables is
/// then written, unless a formula replaces the tables.
pub(crate) const MOSTLY: f64 = 0.5;

/// Returns the plan of a device's translation layer. The fill does not stay if it is not in order,
/// if it is overwritten before the run, or if every program is observed (`observed`). Page mapping
/// has no formula for a fill of at most half of the device.
pub(crate) fn ftl(device: &plan::Ssd, observed: bool) -> wordline_ftl::Plan {
    let precondition = &device.precondition;
    let stays = precondition.overwrite_pages == 0 && precondition.settle == Settle::No;
    let mut plan = device.device.ftl.clone();
    plan.keeps_fill = stays && !precondition.scattered && !observed;
    if fill(device).logical <= MOSTLY {
        plan.formula_pages = u32::MAX;
    }
    plan
}

/// Returns the shares of a device's pages that are in use when its run starts.
pub(crate) fn fill(device: &plan::Ssd) -> Fill {
    let precondition = &device.precondition;
    let filled = u64::from(precondition.fill_pages);
    let further = match precondition.settle {
        Settle::No => precondition.overwrite_pages,
        // Preconditioning to steady state overwrites the device several times, and uses every block
        // at least once.
        Settle::Until { .. } => device.device.part.layout.pages().into(),
    };
    let written = if filled > 0 { filled + further } else { 0 };
    Fill {
        logical: filled as f64 / f64::from(device.device.ftl.user_pages.max(1)),
        physical: (written as f64 / f64::from(device.device.part.layout.pages())).min(1.0),
    }
}
