//! The tables of a run.

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

/// The first column of what is told of each member of an array.
fn of_member(members: impl Iterator<Item = u32>) -> Column {
    let heading = Heading::new("member", "", "Member of the array, from 0");
    (heading, Values::from(members.collect::<Vec<u32>>()))
}

/// What the dies had to do at the instants at which they were looked at; those without anything are
/// left out.
pub fn chip_load(loads: &ChipLoads) -> Result<Table, ObserveError> {
    Table::new(columns! { loads.samples();
        time_s, "s", "Simulated time", |sample| sample.at.as_secs();
        mean_us, "us", "How long what a die had to do takes, mean of the dies", |sample| us(sample.mean);
        max_us, "us", "The same of the die that had most to do", |sample| us(sample.max);
        balance, "", "The one against the other: load balance rate", Sample::balance;
    })
}
