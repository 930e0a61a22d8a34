//! The tables of a run.

use std::iter::repeat_n;

use wordline_device::Usage;
use wordline_ftl::allocate::Dimensions;
use wordline_kernel::Time;
use wordline_nand::{Layout, Plane};
use wordline_observe::{Busy, Heading, Interval, ObserveError, Point, Table, Tally, Values};

use crate::chip_load::{ChipLoads, Sample};
use crate::outcome::Outcome;
use crate::record::{Cell, Record};
use crate::summary::{EnergySummary, energy_of_dies, ratio};

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

/// A row for each die: what it was used for, and the energy it took.
pub fn dies(outcome: &Outcome) -> Result<Table, ObserveError> {
    let span = outcome.end.since(outcome.first_arrival());
    let energy: Vec<_> = outcome
        .ssds()
        .flat_map(|ssd| energy_of_dies(&ssd, span))
        .collect();
    let usage: Vec<&Usage> = outcome
        .devices
        .iter()
        .flat_map(|device| &device.usage)
        .collect();
    let places: Vec<(u32, Dimensions, u32)> = (0..)
        .zip(outcome.plan.ssds())
        .flat_map(|(member, plan)| {
            (0..plan.part.layout.dies).map(move |die| (member, plan.dimensions, die))
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
    let occupied = outcome.record.dies.totals();
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
            Values::from(occupied.into_iter().map(us).collect::<Vec<f64>>()),
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
    if outcome.plan.array().is_some() {
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

/// The first column of what is told of each member of an array.
fn of_member(members: impl Iterator<Item = u32>) -> Column {
    let heading = Heading::new("member", "", "Member of the array, from 0");
    (heading, Values::from(members.collect::<Vec<u32>>()))
}

/// A row for each member of an array and interval of simulated time. Intervals of members can differ
/// in width.
pub fn members(records: &[Record]) -> Result<Table, ObserveError> {
    let of = |record: &Record| record.series.iter().count();
    let rows = (0..)
        .zip(records)
        .flat_map(|(member, record)| repeat_n(member, of(record)));
    let mut columns = vec![of_member(rows)];
    let cells: Vec<_> = records
        .iter()
        .flat_map(|record| record.series.iter())
        .collect();
    columns.extend(host_columns(&cells));
    columns.extend(flash_columns(&cells));
    columns.extend(buffer_columns(&cells));
    Table::new(columns)
}

/// A row for each interval of simulated time.
pub fn series(record: &Record) -> Result<Table, ObserveError> {
    let cells: Vec<_> = record.series.iter().collect();
    let mut columns = host_columns(&cells);
    columns.extend(flash_columns(&cells));
    columns.extend(buffer_columns(&cells));
    columns.extend(vec![
        (
            Heading::new(
                "channel_utilisation",
                "",
                "Share of the interval in which each channel's bus was held",
            ),
            lanes(&record.channels, cells.len()),
        ),
        (
            Heading::new(
                "die_utilisation",
                "",
                "Share of the interval in which each die was occupied",
            ),
            lanes(&record.dies, cells.len()),
        ),
    ]);
    Table::new(columns)
}

fn host_columns(cells: &Cells<'_>) -> Vec<Column> {
    vec![
        (
            Heading::new("start_s", "s", "Start of the interval"),
            f64s(cells, |cell| cell.from.as_secs()),
        ),
        (
            Heading::new("end_s", "s", "End of the interval"),
            f64s(cells, |cell| cell.until.as_secs()),
        ),
        (
            Heading::new("reads", "", "Read requests completed"),
            u64s(cells, |cell| cell.value.latency[0].count()),
        ),
        (
            Heading::new("writes", "", "Write requests completed"),
            u64s(cells, |cell| cell.value.latency[1].count()),
        ),
        (
            Heading::new("read_bytes", "B", "Bytes of reads completed"),
            u64s(cells, |cell| cell.value.bytes[0]),
        ),
        (
            Heading::new("write_bytes", "B", "Bytes of writes completed"),
            u64s(cells, |cell| cell.value.bytes[1]),
        ),
        (
            Heading::new("read_mean_us", "us", "Mean response time of reads"),
            maybe(cells, |cell| cell.value.latency[0].mean_us()),
        ),
        (
            Heading::new("read_max_us", "us", "Longest response time of a read"),
            maybe(cells, |cell| cell.value.latency[0].max().map(us)),
        ),
        (
            Heading::new("write_mean_us", "us", "Mean response time of writes"),
            maybe(cells, |cell| cell.value.latency[1].mean_us()),
        ),
        (
            Heading::new("write_max_us", "us", "Longest response time of a write"),
            maybe(cells, |cell| cell.value.latency[1].max().map(us)),
        ),
        (
            Heading::new("max_us", "us", "Longest response time"),
            maybe(cells, |cell| {
                let [read, write] = &cell.value.latency;
                read.max().max(write.max()).map(us)
            }),
        ),
        (
            Heading::new(
                "busy_ms",
                "ms",
                "Time of the interval in which requests were in the device",
            ),
            f64s(cells, |cell| cell.value.busy.as_secs() * 1e3),
        ),
        (
            Heading::new("iops", "1/s", "Requests completed a second"),
            f64s(cells, |cell| requests(cell) as f64 / seconds(cell)),
        ),
        (
            Heading::new(
                "mb_per_s",
                "MB/s",
                "Bytes of completed requests a second, in 10^6 bytes",
            ),
            f64s(cells, |cell| {
                (cell.value.bytes[0] + cell.value.bytes[1]) as f64 / 1e6 / seconds(cell)
            }),
        ),
    ]
}

fn buffer_columns(cells: &Cells<'_>) -> Vec<Column> {
    type Count = fn(&Cell) -> u64;
    let columns: [(&'static str, &'static str, Count); 7] = [
        (
            "buffer_read_hits",
            "Pages of reads that were in the DRAM buffer",
            |cell| cell.buffer.hits[0],
        ),
        (
            "buffer_read_misses",
            "Pages of reads that were not",
            |cell| cell.buffer.misses[0],
        ),
        (
            "buffer_write_hits",
            "Pages of writes that were in the DRAM buffer",
            |cell| cell.buffer.hits[1],
        ),
        (
            "buffer_write_misses",
            "Pages of writes that were not",
            |cell| cell.buffer.misses[1],
        ),
        (
            "buffer_clean_evictions",
            "Pages that left the DRAM buffer as the flash held them",
            |cell| cell.buffer.evictions[0],
        ),
        (
            "buffer_dirty_evictions",
            "Pages that left it and were newer",
            |cell| cell.buffer.evictions[1],
        ),
        (
            "buffer_pages_destaged",
            "Pages that went from the DRAM buffer to the flash",
            |cell| cell.buffer.destaged,
        ),
    ];
    let column = |(name, description, count): (&'static str, &'static str, Count)| {
        let values = u64s(cells, |cell| count(cell.value));
        (Heading::new(name, "", description), values)
    };
    columns.into_iter().map(column).collect()
}

fn flash_columns(cells: &Cells<'_>) -> Vec<Column> {
    vec![
        (
            Heading::new(
                "host_page_writes",
                "",
                "Pages that the host wrote, whole or in part",
            ),
            u64s(cells, |cell| cell.value.flash.host_page_writes),
        ),
        (
            Heading::new("page_programs", "", "Pages programmed"),
            u64s(cells, |cell| cell.value.flash.page_programs()),
        ),
        (
            Heading::new("page_reads", "", "Pages read from flash"),
            u64s(cells, |cell| cell.value.flash.page_reads()),
        ),
        (
            Heading::new(
                "write_amplification",
                "",
                "Pages programmed per page that the host wrote",
            ),
            maybe(cells, |cell| {
                ratio(
                    cell.value.flash.page_programs(),
                    cell.value.flash.host_page_writes,
                )
            }),
        ),
        (
            Heading::new("gc_runs", "", "Collections finished"),
            u64s(cells, |cell| cell.value.flash.gc_runs),
        ),
        (
            Heading::new("gc_pages_moved", "", "Pages moved by collections finished"),
            u64s(cells, |cell| cell.value.flash.gc_pages_moved),
        ),
        (
            Heading::new(
                "gc_time_ms",
                "ms",
                "Duration of collections finished, summed over planes",
            ),
            f64s(cells, |cell| cell.value.flash.gc_time.as_secs() * 1e3),
        ),
        (
            Heading::new(
                "gc_die_ms",
                "ms",
                "Time of the interval that dies were occupied for collections, summed over dies",
            ),
            f64s(cells, |cell| cell.value.flash.gc_die_time.as_secs() * 1e3),
        ),
        (
            Heading::new("erases", "", "Blocks erased"),
            u64s(cells, |cell| cell.value.flash.erases()),
        ),
    ]
}

/// The distribution of response times, for all requests, for reads and for writes.
pub fn latency(record: &Record) -> Result<Table, ObserveError> {
    let [read, write] = &record.total.latency;
    let all = record.total.all();
    let curves = [all.cdf(), read.cdf(), write.cdf()];
    let codes = curves
        .iter()
        .zip(0..)
        .flat_map(|(curve, op)| repeat_n(op, curve.len()));
    let mut columns = vec![(
        Heading::new("op", "", "all, read or write"),
        Values::Words {
            words: &["all", "read", "write"],
            codes: codes.collect(),
        },
    )];
    columns.extend(distribution(&curves.concat()));
    Table::new(columns)
}

/// The distribution of response times of each stream and of each member of an array, reads and writes
/// together.
pub fn latency_by(outcome: &Outcome) -> Result<Table, ObserveError> {
    let streams = outcome.plan.streams.iter().zip(&outcome.record.streams);
    let streams = streams.map(|(stream, served)| (0, stream.name.clone(), served.all().cdf()));
    let members = outcome.plan.leaves().into_iter().zip(&outcome.members);
    let members = members.map(|(leaf, record)| (1, leaf.name, record.total.all().cdf()));
    let curves: Vec<_> = streams.chain(members).collect();
    let rows = || {
        curves
            .iter()
            .flat_map(|(kind, name, curve)| repeat_n((*kind, name.clone()), curve.len()))
    };
    let points: Vec<_> = curves
        .iter()
        .flat_map(|(.., curve)| curve.iter().copied())
        .collect();
    let mut columns = vec![
        (
            Heading::new("of", "", "stream or member"),
            Values::Words {
                words: &["stream", "member"],
                codes: rows().map(|(kind, _)| kind).collect(),
            },
        ),
        (
            Heading::new("name", "", "Its name"),
            Values::Text(rows().map(|(_, name)| name.clone()).collect()),
        ),
    ];
    columns.extend(distribution(&points));
    Table::new(columns)
}

fn distribution(points: &[Point]) -> [(Heading, Values); 3] {
    let column = |of: fn(&Point) -> f64| points.iter().map(of).collect::<Vec<f64>>().into();
    [
        (
            Heading::new("latency_us", "us", "A response time"),
            column(|point| us(point.at)),
        ),
        (
            Heading::new(
                "fraction_below",
                "",
                "Share of requests that took no longer",
            ),
            column(|point| point.fraction),
        ),
        (
            Heading::new(
                "count",
                "",
                "Requests longer than the row before and no longer than this one",
            ),
            points
                .iter()
                .map(|point| point.count)
                .collect::<Vec<u64>>()
                .into(),
        ),
    ]
}

/// Erases of runs of blocks: every block of its own while there are no more than 2^20 blocks,
/// else runs of equal length.
pub fn blocks(outcome: &Outcome) -> Result<Table, ObserveError> {
    let all: usize = outcome
        .devices
        .iter()
        .map(|device| device.erases.len())
        .sum();
    let run = all.div_ceil(MOST_BLOCK_ROWS).max(1);
    let rows = || {
        let layouts = outcome.plan.ssds().map(|plan| plan.part.layout);
        layouts.map(|layout| rows_of_blocks(&layout, run))
    };
    let mut runs = BlockRuns::of_rows(rows().sum());
    for (plan, device) in outcome.plan.ssds().zip(&outcome.devices) {
        runs.add_device(&plan.part.layout, plan.dimensions, &device.erases, run);
    }
    let [channel, way, die, plane] = runs.place;
    let mut columns: Vec<Column> = vec![
        (Heading::new("channel", "", "Channel"), channel.into()),
        (
            Heading::new("way", "", "Package on the channel"),
            way.into(),
        ),
        (Heading::new("die", "", "Die in the package"), die.into()),
        (Heading::new("plane", "", "Plane in the die"), plane.into()),
        (
            Heading::new("block", "", "First block, in the plane"),
            runs.first.into(),
        ),
        (
            Heading::new(
                "blocks",
                "",
                "Blocks from there on that this row stands for",
            ),
            runs.blocks.into(),
        ),
        (
            Heading::new("erases_min", "", "Fewest erases of one of them"),
            runs.least.into(),
        ),
        (
            Heading::new("erases", "", "Mean erases of these blocks"),
            runs.mean.into(),
        ),
        (
            Heading::new("erases_max", "", "Most erases of one of them"),
            runs.most.into(),
        ),
    ];
    if outcome.plan.array().is_some() {
        let members = (0..).zip(rows());
        let of_rows = |(member, rows)| repeat_n(member, rows);
        columns.insert(0, of_member(members.flat_map(of_rows)));
    }
    Table::new(columns)
}

/// Runs of `run` blocks of a device, none of two planes.
fn rows_of_blocks(layout: &Layout, run: usize) -> usize {
    layout.planes() as usize * (layout.blocks_per_plane as usize).div_ceil(run)
}

/// How many blocks were erased how often: a row for each number of erases from the fewest to the
/// most, or for runs of equal length of them if they are more than 1024.
pub fn wear(outcome: &Outcome) -> Result<Table, ObserveError> {
    let erases = || outcome.devices.iter().flat_map(|device| &device.erases);
    let least = erases().copied().min().unwrap_or(0);
    let most = erases().copied().max().unwrap_or(0);
    let run = (most - least) / MOST_WEAR_ROWS + 1;
    let mut blocks = vec![0_u64; ((most - least) / run + 1) as usize];
    for &one in erases() {
        blocks[((one - least) / run) as usize] += 1;
    }
    let firsts = (0..blocks.len() as u32).map(|row| least + row * run);
    let lasts = firsts
        .clone()
        .map(|first| most.min(first.saturating_add(run - 1)));
    Table::new(vec![
        (
            Heading::new("erases_min", "", "Fewest erases of these blocks"),
            firsts.collect::<Vec<u32>>().into(),
        ),
        (
            Heading::new(
                "erases_max",
                "",
                "Most erases of these blocks; the same unless rows stand for several",
            ),
            lasts.collect::<Vec<u32>>().into(),
        ),
        (
            Heading::new("blocks", "", "Blocks with so many erases"),
            blocks.into(),
        ),
    ])
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

/// Rows of the table of wear at most.
const MOST_WEAR_ROWS: u32 = 1024;

/// Runs of neighbouring blocks of a plane, a row each.
struct BlockRuns {
    /// Channel, way, die and plane.
    place: [Vec<u32>; 4],
    first: Vec<u32>,
    blocks: Vec<u32>,
    /// Erases of one of them.
    least: Vec<u32>,
    most: Vec<u32>,
    mean: Vec<f64>,
}

impl BlockRuns {
    /// None, with room for `rows`.
    fn of_rows(rows: usize) -> Self {
        let column = || Vec::with_capacity(rows);
        Self {
            place: [column(), column(), column(), column()],
            first: column(),
            blocks: column(),
            least: column(),
            most: column(),
            mean: Vec::with_capacity(rows),
        }
    }
    /// Adds the blocks of a device that is wired like `of`, by their erases, in runs of `length`.
    fn add_device(&mut self, layout: &Layout, of: Dimensions, erases: &[u32], length: usize) {
        let mut of_plane = Vec::new();
        for plane in (0..layout.planes()).map(Plane) {
            let blocks = (0..layout.blocks_per_plane).map(|block| layout.block(plane, block));
            of_plane.clear();
            of_plane.extend(blocks.map(|block| erases[block.index()]));
            self.add(of, plane, &of_plane, length);
        }
    }
    /// Adds the blocks of a plane of a device that is wired like `of`, by their erases, in runs of
    /// `length`.
    fn add(&mut self, of: Dimensions, plane: Plane, erases: &[u32], length: usize) {
        let runs = erases.chunks(length);
        let die = plane.0 / of.planes;
        let way = die / of.dies;
        let place = [
            way / of.ways,
            way % of.ways,
            die % of.dies,
            plane.0 % of.planes,
        ];
        for (column, part) in self.place.iter_mut().zip(place) {
            column.extend(repeat_n(part, runs.len()));
        }
        self.first.extend((0..erases.len() as u32).step_by(length));
        self.blocks.extend(runs.clone().map(|run| run.len() as u32));
        let least = |run: &[u32]| run.iter().copied().min().unwrap_or_default();
        self.least.extend(runs.clone().map(least));
        let most = |run: &[u32]| run.iter().copied().max().unwrap_or_default();
        self.most.extend(runs.clone().map(most));
        let sum = |run: &[u32]| run.iter().copied().map(u64::from).sum::<u64>() as f64;
        self.mean
            .extend(runs.map(|run| sum(run) / run.len() as f64));
    }
}

/// Rows of the table of blocks at most, about.
const MOST_BLOCK_ROWS: usize = 1 << 20;

fn lanes(busy: &Busy, rows: usize) -> Values {
    let mut values: Vec<f32> = Vec::with_capacity(rows * busy.lanes());
    for row in busy.iter().take(rows) {
        values.extend(row.utilisation().map(|share| share as f32));
    }
    values.resize(rows * busy.lanes(), 0.0);
    Values::Lists {
        lanes: busy.lanes(),
        values,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_erases_of_the_blocks_that_it_names() {
        let of = Dimensions {
            channels: 2,
            ways: 2,
            dies: 2,
            planes: 3,
        };
        let layout = Layout {
            dies: 8,
            planes_per_die: 3,
            blocks_per_plane: 5,
            pages_per_block: 4,
        };
        let erases: Vec<u32> = (0..layout.blocks()).map(|block| block * 7 % 31).collect();
        for length in [1, 2, 5, 9] {
            let rows = rows_of_blocks(&layout, length);
            let mut runs = BlockRuns::of_rows(rows);
            runs.add_device(&layout, of, &erases, length);
            assert_eq!(runs.first.len(), rows);
            for row in 0..rows {
                let [channel, way, die, plane] = [0, 1, 2, 3].map(|part| runs.place[part][row]);
                let plane = Plane(((channel * of.ways + way) * of.dies + die) * of.planes + plane);
                let first = runs.first[row];
                let blocks =
                    (first..first + runs.blocks[row]).map(|block| layout.block(plane, block));
                let here: Vec<u32> = blocks.map(|block| erases[block.index()]).collect();
                assert_eq!(here.iter().min(), Some(&runs.least[row]));
                assert_eq!(here.iter().max(), Some(&runs.most[row]));
                let mean = f64::from(here.iter().sum::<u32>()) / here.len() as f64;
                assert_eq!(mean, runs.mean[row]);
            }
            let blocks: u32 = runs.blocks.iter().sum();
            assert_eq!(blocks, layout.blocks());
        }
    }
}
