//! Table of the dies: breakdown of their time, and energy.

use super::{Column, of_member, us};
use crate::outcome::Outcome;
use crate::summary::{EnergySummary, energy_of_dies};
use wordline_ftl::allocate::Dimensions;
use wordline_kernel::Time;
use wordline_observe::{ObserveError, Table, columns};
use wordline_ssd::Usage;

/// Die with the breakdown of its time, and its energy.
struct DieRow {
    member: u32,
    /// Wiring of the device that contains the die.
    wiring: Dimensions,
    /// Number of the die in the device.
    die: u32,
    occupied: Time,
    usage: Usage,
    energy: EnergySummary,
}

/// Builds the table of dies: one row per die, with the breakdown of its time and its energy.
pub fn dies(outcome: &Outcome) -> Result<Table, ObserveError> {
    let rows = rows(outcome);
    let mut columns = die_columns(&rows);
    if outcome.plan.has_members() {
        columns.insert(0, of_member(rows.iter().map(|row| row.member)));
    }
    Table::new(columns)
}

fn rows(outcome: &Outcome) -> Vec<DieRow> {
    let span = outcome.end.since(outcome.measured_from());
    let devices = outcome.plan.flash().into_iter().zip(outcome.ssds());
    let rows = devices.flat_map(|((member, plan), ssd)| {
        let energy = energy_of_dies(&ssd, span);
        let used = ssd.device.usage.iter().zip(ssd.record.dies.totals());
        let dies = (0..plan.device.part.layout.dies).zip(used.zip(energy));
        dies.map(move |(die, ((&usage, occupied), energy))| DieRow {
            member,
            wiring: plan.dimensions,
            die,
            occupied,
            usage,
            energy,
        })
        .collect::<Vec<_>>()
    });
    rows.collect()
}

fn die_columns(rows: &[DieRow]) -> Vec<Column> {
    columns! { rows;
        channel, "", "Channel", |row| row.die / row.wiring.dies / row.wiring.ways;
        way, "", "Package on the channel", |row| row.die / row.wiring.dies % row.wiring.ways;
        die, "", "Die in the package", |row| row.die % row.wiring.dies;
        occupied_us, "us", "Time of operations, including waits for the bus", |row| us(row.occupied);
        read_us, "us", "Time of array reads, summed over planes", |row| us(row.usage.array[0]);
        program_us, "us", "Time of array programs, summed over planes", |row| us(row.usage.array[1]);
        erase_us, "us", "Time of erases, summed over planes", |row| us(row.usage.array[2]);
        bus_us, "us", "Time on the bus", |row| us(row.usage.bus);
        bus_wait_us, "us", "Time spent waiting for the bus", |row| us(row.usage.bus_wait);
        cell_us, "us", "Array time of commands, counted once for all planes, and short busy times", |row| us(row.usage.cell);
        read_mj, "mJ", "Energy of array reads", |row| row.energy.read_mj;
        program_mj, "mJ", "Energy of array programs", |row| row.energy.program_mj;
        erase_mj, "mJ", "Energy of erases", |row| row.energy.erase_mj;
        bus_mj, "mJ", "Energy of the die's interface on the bus", |row| row.energy.bus_mj;
        standby_mj, "mJ", "Energy in standby", |row| row.energy.standby_mj;
    }
}
