//! Section `energy` of the summary: energy of the flash.

use crate::outcome::SsdOutcome;
use schemars::JsonSchema;
use serde::Serialize;
use wordline_kernel::{Plus, Time};
use wordline_nand::Energy;
use wordline_recorder::FlashCounts;
use wordline_ssd::Usage;

/// Energy of the flash, from the first arrival to the last event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Energy")]
pub struct EnergySummary {
    /// Energy of array reads, from the first arrival to the last event: supply voltage x read
    /// current x array time, per active plane.
    pub read_mj: f64,
    /// Energy of array programs.
    pub program_mj: f64,
    /// Energy of erases.
    pub erase_mj: f64,
    /// Energy of the dies' interfaces while they use the bus.
    pub bus_mj: f64,
    /// Energy of dies in standby, while they are not occupied.
    pub standby_mj: f64,
    /// Sum of the five energies above. Host link, controller and DRAM are not modelled.
    pub total_mj: f64,
}

impl EnergySummary {
    /// Computes the energy of a die from its `usage` and the time `work` in which it was occupied
    /// during `span`.
    pub(crate) fn of_die(energy: &Energy, usage: &Usage, work: Time, span: Time) -> Self {
        let mj = |nj: f64| nj / 1e6;
        let [read, program, erase, bus] = energy.stages_nj(usage.array, usage.bus).map(mj);
        let mut sum = Self {
            read_mj: read,
            program_mj: program,
            erase_mj: erase,
            bus_mj: bus,
            standby_mj: mj(energy.standby_nj(span.since(work))),
            total_mj: 0.0,
        };
        sum.total_mj = sum.read_mj + sum.program_mj + sum.erase_mj + sum.bus_mj + sum.standby_mj;
        sum
    }
}

wordline_kernel::plus!(EnergySummary: read_mj, program_mj, erase_mj, bus_mj, standby_mj, total_mj);

/// Mean energy of an array operation, by kind. mJ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MeanEnergy {
    read: f64,
    program: f64,
    erase: f64,
}

impl MeanEnergy {
    /// Computes the means from the total `energy` and the operations counted in `flash`.
    pub(crate) fn new(energy: &EnergySummary, flash: &FlashCounts) -> Self {
        let each = |mj: f64, count: u64| mj / count.max(1) as f64;
        Self {
            read: each(energy.read_mj, flash.page_reads()),
            program: each(energy.program_mj, flash.page_programs()),
            erase: each(energy.erase_mj, flash.erases()),
        }
    }
    /// Returns the energy of page moves, each of which is a read and a program. mJ.
    pub(crate) fn of_moves(&self, pages: u64) -> f64 {
        (self.read + self.program) * pages as f64
    }
    pub(crate) fn of_programs(&self, pages: u64) -> f64 {
        self.program * pages as f64
    }
    pub(crate) fn of_erases(&self, blocks: u64) -> f64 {
        self.erase * blocks as f64
    }
}

/// Returns the energy of each die of a device during `span`.
pub(crate) fn energy_of_dies(ssd: &SsdOutcome<'_>, span: Time) -> Vec<EnergySummary> {
    let occupied = ssd.record.dies.totals();
    let dies = ssd.device.usage.iter().zip(occupied);
    dies.map(|(usage, work)| EnergySummary::of_die(&ssd.plan.energy, usage, work, span))
        .collect()
}

/// Returns the energy of all dies of a device during `span`.
pub(crate) fn sum_of_dies(ssd: &SsdOutcome<'_>, span: Time) -> EnergySummary {
    let dies = energy_of_dies(ssd, span);
    dies.iter()
        .fold(EnergySummary::default(), |sum, die| sum.plus(*die))
}
