//! Properties of the dies on a bus.

use serde::{Deserialize, Serialize};

use wordline_reliability::{Failing, Reader};

use crate::target::DataSheet;
use crate::{Arbitration, Cell, Chains, Geometry, Layout, PlaneRule, Scheduler, Suspend, Timing};

/// Validated array of equal dies, with all settings needed to operate them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Counts of dies, planes, blocks and pages.
    pub layout: Layout,
    /// Durations of all operations.
    pub chains: Chains,
    /// Erases that a block endures. Count.
    pub endurance_cycles: u32,
    /// Maximum programs of a page between two erases (NOP). Count.
    pub partial_programs: u32,
    /// Rule for the pages that one multi-plane command may address.
    pub plane_rule: PlaneRule,
    /// Arbitration policy of the buses.
    pub arbitration: Arbitration,
    /// Policy that decides whether dies or planes are used first.
    pub scheduler: Scheduler,
    /// Operations that reads can suspend, and their limits.
    pub suspend: Suspend,
    /// Seed of the random streams of the array: jitter, factory bad blocks, errors and failures.
    pub seed: u64,
    /// Error model of reads and their correction; `None` if reads never fail.
    pub reader: Option<Box<Reader>>,
    /// Share of blocks that are bad from the factory. Ratio.
    pub factory_bad_ratio: f64,
    /// Failure model of programs and erases; `None` if they never fail.
    pub failing: Option<Box<Failing>>,
}

impl Part {
    /// Builds the part of a data sheet: one package with default policies. Returns `None` if it has
    /// too many pages.
    pub fn of(sheet: &DataSheet) -> Option<Self> {
        let layout = Layout::new(&sheet.geometry, 1)?;
        Some(Self {
            endurance_cycles: sheet.endurance_cycles,
            partial_programs: sheet.partial_programs,
            plane_rule: sheet.plane_rule,
            suspend: sheet.suspend.clone(),
            ..Self::new(layout, &sheet.geometry, &sheet.timing, &sheet.cell)
        })
    }
    /// Builds a part with the given times and otherwise minimal properties: unlimited endurance,
    /// one program per page, first-come arbitration, no suspension.
    pub fn new(layout: Layout, geometry: &Geometry, timing: &Timing, cell: &Cell) -> Self {
        Self {
            layout,
            chains: Chains::new(geometry, timing, cell),
            endurance_cycles: u32::MAX,
            partial_programs: 1,
            plane_rule: PlaneRule::default(),
            arbitration: Arbitration::default(),
            scheduler: Scheduler::default(),
            suspend: Suspend::default(),
            seed: 0,
            reader: None,
            factory_bad_ratio: 0.0,
            failing: None,
        }
    }
}
