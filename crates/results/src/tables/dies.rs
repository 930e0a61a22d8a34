//! What each die was used for.

use super::{Column, of_member, us};
use crate::outcome::Outcome;
use crate::summary::{EnergySummary, energy_of_dies};
use wordline_ftl::allocate::Dimensions;
use wordline_kernel::Time;
use wordline_observe::{Heading, ObserveError, Table, Values};
use wordline_ssd::Usage;

/// A row for each die: what it was used for, and the energy it took.
pub fn dies(outcome: &Outcome) -> Result<Table, ObserveError> {
    let span = outcome.end.since(outcome.measured_from());
    let energy: Vec<_> = outcome
        .ssds()
        .flat_map(|ssd| energy_of_dies(&ssd, span))
        .collect();
    let usage: Vec<&Usage> = outcome
        .devices
        .iter()
        .flat_map(|device| &device.usage)
        .collect();
    let places: Vec<(u32, Dimensions, u32)> = outcome
        .plan
        .flash()
        .into_iter()
        .flat_map(|(member, plan)| {
            (0..plan.device.part.layout.dies).map(move |die| (member, plan.dimensions, die))
        })
        .collect();
    let place = |of: &dyn Fn(Dimensions, u32) -> u32| {
        let values = places
            .iter()
            .map(|&(_, dimensions, die)| of(dimensions, die));
        Values::from(values.collect::<Vec<u32>>())
    };
    let time = |of: &dyn Fn(&Usage) -> Time| {
        Values::from(
            usage
                .iter()
                .map(|usage| us(of(usage)))
                .collect::<Vec<f64>>(),
        )
    };
    let records: Vec<_> = outcome.ssds().map(|ssd| ssd.record).collect();
    let occupied = records.into_iter().flat_map(|record| record.dies.totals());
    let mut columns = vec![
        (
            Heading::new("channel", "", "Channel"),
            place(&|of, die| die / of.dies / of.ways),
        ),
        (
            Heading::new("way", "", "Package on the channel"),
            place(&|of, die| die / of.dies % of.ways),
        ),
        (
            Heading::new("die", "", "Die in the package"),
            place(&|of, die| die % of.dies),
        ),
        (
            Heading::new(
                "occupied_us",
                "us",
                "From first command cycles to last bus cycles",
            ),
            Values::from(occupied.map(us).collect::<Vec<f64>>()),
        ),
        (
            Heading::new("read_us", "us", "Array reads, summed over planes"),
            time(&|usage| usage.array[0]),
        ),
        (
            Heading::new("program_us", "us", "Array programs, summed over planes"),
            time(&|usage| usage.array[1]),
        ),
        (
            Heading::new("erase_us", "us", "Erases, summed over planes"),
            time(&|usage| usage.array[2]),
        ),
        (
            Heading::new("bus_us", "us", "On the bus"),
            time(&|usage| usage.bus),
        ),
        (
            Heading::new("bus_wait_us", "us", "Waiting for the bus"),
            time(&|usage| usage.bus_wait),
        ),
        (
            Heading::new("cell_us", "us", "Arrays at work, however many planes"),
            time(&|usage| usage.cell),
        ),
    ];
    columns.extend(energy_columns(&energy));
    if outcome.plan.has_members() {
        columns.insert(0, of_member(places.iter().map(|(member, ..)| *member)));
    }
    Table::new(columns)
}

fn energy_columns(dies: &[EnergySummary]) -> Vec<Column> {
    let energy = |of: &dyn Fn(&EnergySummary) -> f64| {
        Values::from(dies.iter().map(of).collect::<Vec<f64>>())
    };
    vec![
        (
            Heading::new("read_mj", "mJ", "Energy of array reads"),
            energy(&|energy| energy.read_mj),
        ),
        (
            Heading::new("program_mj", "mJ", "Energy of array programs"),
            energy(&|energy| energy.program_mj),
        ),
        (
            Heading::new("erase_mj", "mJ", "Energy of erases"),
            energy(&|energy| energy.erase_mj),
        ),
        (
            Heading::new("bus_mj", "mJ", "Energy of the bus"),
            energy(&|energy| energy.bus_mj),
        ),
        (
            Heading::new("standby_mj", "mJ", "Energy of doing nothing"),
            energy(&|energy| energy.standby_mj),
        ),
    ]
}
