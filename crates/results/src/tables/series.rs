//! Time series: one row per interval of simulated time.

use super::{Column, of_member, us};
use crate::outcome::Outcome;
use crate::summary::{BufferSummary, FlashSummary};
use std::iter::repeat_n;
use wordline_flash_cache::{Lists, Pages};
use wordline_kernel::Time;
use wordline_observe::{Busy, Heading, Interval, ObserveError, Table, Tally, Values, columns};
use wordline_recorder::{Cell, Record};

type Cells<'a> = [Interval<&'a Cell>];

/// Builds the time series of an array's members: one row per member and interval of simulated time.
/// Intervals of members can differ in width.
pub fn members(outcome: &Outcome) -> Result<Table, ObserveError> {
    let records = &outcome.members[..];
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
    if !outcome.caches.is_empty() {
        columns.extend(cache_columns(&cells));
    }
    Table::new(columns)
}

/// Builds the time series of a run: one row per interval of simulated time.
pub fn series(record: &Record) -> Result<Table, ObserveError> {
    let cells: Vec<_> = record.series.iter().collect();
    let mut columns = host_columns(&cells);
    columns.extend(flash_columns(&cells));
    columns.extend(buffer_columns(&cells));
    columns.extend(cache_columns(&cells));
    let busy = [
        (
            "channel_utilisation",
            "Share of the interval in which each channel's bus was granted",
            &record.channels,
        ),
        (
            "die_utilisation",
            "Share of the interval in which each die, or the mechanism of each disk, was occupied",
            &record.dies,
        ),
    ];
    let busy = busy.into_iter().filter(|(.., busy)| busy.lanes() > 0);
    columns.extend(busy.map(|(name, description, busy)| {
        let heading = Heading::new(name, "", description);
        (heading, lanes(busy, cells.len()))
    }));
    Table::new(columns)
}

fn host_columns(cells: &Cells<'_>) -> Vec<Column> {
    columns! { cells;
        start_s, "s", "Start of the interval", |cell| cell.from.as_secs();
        end_s, "s", "End of the interval", |cell| cell.until.as_secs();
        reads, "", "Read requests completed", |cell| cell.value.latency[0].count();
        writes, "", "Write requests completed", |cell| cell.value.latency[1].count();
        read_bytes, "B", "Bytes of completed reads", |cell| cell.value.bytes[0];
        write_bytes, "B", "Bytes of completed writes", |cell| cell.value.bytes[1];
        read_mean_us, "us", "Mean response time of reads", |cell| cell.value.latency[0].mean_us();
        read_max_us, "us", "Longest response time of a read", |cell| cell.value.latency[0].max().map(us);
        write_mean_us, "us", "Mean response time of writes", |cell| cell.value.latency[1].mean_us();
        write_max_us, "us", "Longest response time of a write", |cell| cell.value.latency[1].max().map(us);
        max_us, "us", "Longest response time", |cell| cell.value.latency.iter().filter_map(Tally::max).max().map(us);
        busy_ms, "ms", "Time in which the device held requests", |cell| ms(cell.value.busy);
        iops, "1/s", "Requests completed per second", |cell| requests(cell) as f64 / seconds(cell);
        mb_per_s, "MB/s", "Bytes of completed requests per second, in 10^6 bytes", |cell| megabytes(cell) / seconds(cell);
    }
}

fn seconds(cell: &Interval<&Cell>) -> f64 {
    cell.until.since(cell.from).as_secs().max(1e-12)
}
fn requests(cell: &Interval<&Cell>) -> u64 {
    cell.value.latency.iter().map(Tally::count).sum()
}
/// Returns the bytes of completed requests, in 10^6 bytes.
fn megabytes(cell: &Interval<&Cell>) -> f64 {
    cell.value.bytes.iter().sum::<u64>() as f64 / 1e6
}
fn ms(time: Time) -> f64 {
    time.as_secs() * 1e3
}

fn flash_columns(cells: &Cells<'_>) -> Vec<Column> {
    let counts: Vec<_> = cells.iter().map(|cell| &cell.value.flash).collect();
    FlashSummary::columns(&counts)
}

fn buffer_columns(cells: &Cells<'_>) -> Vec<Column> {
    let counts: Vec<_> = cells.iter().map(|cell| &cell.value.buffer).collect();
    BufferSummary::columns(&counts)
}

fn cache_columns(cells: &Cells<'_>) -> Vec<Column> {
    let found: Vec<Pages> = cells.iter().map(|cell| cell.value.cache.0).collect();
    let lists: Vec<Option<Lists>> = cells.iter().map(|cell| cell.value.lists.0).collect();
    let mut columns = columns! { &found;
        cache_resident_hits, "", "Pages requested by reads and found in the flash cache", |pages| pages.resident;
        cache_suspected_hits, "", "Pages requested by reads that had been evicted but could still be read", |pages| pages.suspected;
        cache_joined, "", "Pages requested by reads while another request was already reading them from the disk", |pages| pages.joined;
        cache_misses, "", "Pages requested by reads and read from the disk", |pages| pages.missed;
    };
    columns.extend(columns! { &lists;
        cache_read_list, "pages", "Pages in the read list of a partitioned cache", |lists| Some(f64::from((*lists)?.reads));
        cache_write_list, "pages", "Pages in the write list, or in the only list", |lists| Some(f64::from((*lists)?.writes));
        cache_read_size, "pages", "Size chosen for the read list", |lists| Some(f64::from((*lists)?.chosen.reads));
        cache_write_size, "pages", "Size chosen for the write list, or for the only list", |lists| Some(f64::from((*lists)?.chosen.writes));
        cache_over_provisioning, "pages", "Pages of flash left for over-provisioning", |lists| Some(f64::from((*lists)?.chosen.spare));
    });
    columns
}

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
