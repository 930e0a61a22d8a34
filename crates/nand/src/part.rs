//! Everything that dies on a bus are made of.

use serde::{Deserialize, Serialize};

use wordline_reliability::{Failing, Reader};

use crate::target::DataSheet;
use crate::{Arbitration, Cell, Chains, Geometry, Layout, PlaneRule, Scheduler, Suspend, Timing};

/// An array of equal dies and how they are driven: checked, nothing optional.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Dies, planes, blocks, pages.
    pub layout: Layout,
    /// What everything takes.
    pub chains: Chains,
    /// Erases that a block bears.
    pub endurance_cycles: u32,
    /// Programs of a page between two erases at most.
    pub partial_programs: u32,
    /// Which pages one command may address.
    pub plane_rule: PlaneRule,
    /// Who gets the bus of a channel.
    pub arbitration: Arbitration,
    /// Whether dies or planes are used first.
    pub scheduler: Scheduler,
    /// Which operations can be suspended for reads.
    pub suspend: Suspend,
    /// Seed of random deviations of array times.
    pub seed: u64,
    /// How reads err, and what corrects them; none if they never do.
    pub reader: Option<Box<Reader>>,
    /// Share of the blocks that are bad from the factory.
    pub factory_bad_ratio: f64,
    /// How programs and erases fail; none if they never do.
    pub failing: Option<Box<Failing>>,
}

impl Part {
    /// The part that a data sheet describes, driven in the plainest way; `None` if its pages cannot be
    /// counted.
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
    /// A part with these times; in everything else the plainest there is: endless endurance, one
    /// program a page, first come first served, one plane a command, no suspension.
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
