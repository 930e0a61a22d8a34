//! The tables of a run.

mod blocks;
mod dies;
mod latency;
mod series;

use wordline_kernel::Time;
use wordline_observe::{Heading, Interval, ObserveError, Table, Tally, Values};

pub use self::blocks::{blocks, wear};
pub use self::dies::dies;
pub use self::latency::{latency, latency_by};
pub use self::series::{members, series};
use wordline_recorder::Cell;
use wordline_recorder::chip_load::{ChipLoads, Sample};

type Cells<'a> = [Interval<&'a Cell>];
type Column = (Heading, Values);

fn us(time: Time) -> f64 {
    time.as_us()
}
fn f64s(cells: &Cells<'_>, value: impl Fn(&Interval<&Cell>) -> f64) -> Values {
    Values::from(cells.iter().map(value).collect::<Vec<f64>>())
}
fn u64s(cells: &Cells<'_>, value: impl Fn(&Interval<&Cell>) -> u64) -> Values {
    Values::from(cells.iter().map(value).collect::<Vec<u64>>())
}
fn maybe(cells: &Cells<'_>, value: impl Fn(&Interval<&Cell>) -> Option<f64>) -> Values {
    Values::from(cells.iter().map(value).collect::<Vec<Option<f64>>>())
}
fn seconds(cell: &Interval<&Cell>) -> f64 {
    cell.until.since(cell.from).as_secs().max(1e-12)
}
fn requests(cell: &Interval<&Cell>) -> u64 {
    cell.value.latency.iter().map(Tally::count).sum()
}

/// The first column of what is told of each member of an array.
fn of_member(members: impl Iterator<Item = u32>) -> Column {
    let heading = Heading::new("member", "", "Member of the array, from 0");
    (heading, Values::from(members.collect::<Vec<u32>>()))
}

/// What the dies had to do at the instants at which they were looked at; those without anything are
/// left out.
pub fn chip_load(loads: &ChipLoads) -> Result<Table, ObserveError> {
    let samples = loads.samples();
    let column =
        |of: &dyn Fn(&Sample) -> f64| Values::from(samples.iter().map(of).collect::<Vec<f64>>());
    Table::new(vec![
        (
            Heading::new("time_s", "s", "Simulated time"),
            column(&|sample| sample.at.as_secs()),
        ),
        (
            Heading::new(
                "mean_us",
                "us",
                "How long what a die had to do takes, mean of the dies",
            ),
            column(&|sample| us(sample.mean)),
        ),
        (
            Heading::new("max_us", "us", "The same of the die that had most to do"),
            column(&|sample| us(sample.max)),
        ),
        (
            Heading::new(
                "balance",
                "",
                "The one against the other: load balance rate",
            ),
            column(&Sample::balance),
        ),
    ])
}
