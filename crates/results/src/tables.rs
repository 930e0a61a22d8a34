//! Tables of a run.

mod blocks;
mod dies;
mod latency;
mod series;

use wordline_kernel::Time;
use wordline_observe::{Column, Heading, ObserveError, Table, Values, columns};

pub use self::blocks::{blocks, wear};
pub use self::dies::dies;
pub use self::latency::{latency, latency_by};
pub use self::series::{members, series};
use wordline_recorder::chip_load::{ChipLoads, Sample};

fn us(time: Time) -> f64 {
    time.as_us()
}

/// Builds the first column of a table that has rows for each member of an array.
fn of_member(members: impl Iterator<Item = u32>) -> Column {
    let heading = Heading::new("member", "", "Member of the array, from 0");
    (heading, Values::from(members.collect::<Vec<u32>>()))
}

/// Builds the table of die load samples. Samples in which no die has work are left out.
pub fn chip_load(loads: &ChipLoads) -> Result<Table, ObserveError> {
    Table::new(columns! { loads.samples();
        time_s, "s", "Simulated time", |sample| sample.at.as_secs();
        mean_us, "us", "Mean load of the dies", |sample| us(sample.mean);
        max_us, "us", "Load of the die with the highest load", |sample| us(sample.max);
        balance, "", "Load balance rate: highest load over the mean load", Sample::balance;
    })
}
