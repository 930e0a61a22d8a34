//! Time series: what happened in each interval.

use super::{Cells, Column, f64s, maybe, of_member, requests, seconds, u64s, us};
use crate::outcome::Outcome;
use crate::summary::{ratio, write_amplification};
use std::iter::repeat_n;
use wordline_flash_cache as flash_cache;
use wordline_observe::{Busy, Heading, ObserveError, Table, Values};
use wordline_recorder::{Cell, Record};

/// A row for each member of an array and interval of simulated time. Intervals of members can differ
/// in width.
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

/// A row for each interval of simulated time.
pub fn series(record: &Record) -> Result<Table, ObserveError> {
    let cells: Vec<_> = record.series.iter().collect();
    let mut columns = host_columns(&cells);
    columns.extend(flash_columns(&cells));
    columns.extend(buffer_columns(&cells));
    columns.extend(cache_columns(&cells));
    let busy = [
        (
            "channel_utilisation",
            "Share of the interval in which each channel's bus was held",
            &record.channels,
        ),
        (
            "die_utilisation",
            "Share of the interval in which each die was occupied; of disks, their mechanisms",
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

fn cache_columns(cells: &Cells<'_>) -> Vec<Column> {
    type Count = fn(&Cell) -> u64;
    type Pages = fn(&flash_cache::Lists) -> u32;
    let columns: [(&'static str, &'static str, Count); 4] = [
        (
            "cache_resident_hits",
            "Pages of reads that a cache in front of a disk held",
            |cell| cell.cache.0.resident,
        ),
        (
            "cache_suspected_hits",
            "Pages of reads that it had evicted and could still read",
            |cell| cell.cache.0.suspected,
        ),
        (
            "cache_joined",
            "Pages of reads that another request was reading from the disk",
            |cell| cell.cache.0.joined,
        ),
        (
            "cache_misses",
            "Pages of reads that were read from the disk",
            |cell| cell.cache.0.missed,
        ),
    ];
    let column = |(name, description, count): (&'static str, &'static str, Count)| {
        let values = u64s(cells, |cell| count(cell.value));
        (Heading::new(name, "", description), values)
    };
    let lists: [(&'static str, &'static str, Pages); 5] = [
        (
            "cache_read_list",
            "Pages in the list of what was read, where the space of a cache moves",
            |lists| lists.reads,
        ),
        (
            "cache_write_list",
            "Pages in the list of what was written, or in the only one",
            |lists| lists.writes,
        ),
        (
            "cache_read_size",
            "Size chosen for the list of what is read",
            |lists| lists.chosen.reads,
        ),
        (
            "cache_write_size",
            "Size chosen for the list of what is written, or for the only one",
            |lists| lists.chosen.writes,
        ),
        (
            "cache_over_provisioning",
            "What the sizes chosen leave of the flash",
            |lists| lists.chosen.spare,
        ),
    ];
    let lists = lists.into_iter().map(|(name, description, pages)| {
        let values = maybe(cells, |cell| {
            cell.value.lists.0.as_ref().map(|lists| pages(lists).into())
        });
        (Heading::new(name, "pages", description), values)
    });
    columns.into_iter().map(column).chain(lists).collect()
}

fn flash_columns(cells: &Cells<'_>) -> Vec<Column> {
    let mut columns = page_columns(cells);
    columns.extend(block_columns(cells));
    columns
}

/// Pages of flash that were programmed and read.
fn page_columns(cells: &Cells<'_>) -> Vec<Column> {
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
            Heading::new(
                "host_written_bytes",
                "B",
                "Bytes of the writes that the SSDs completed without an error",
            ),
            u64s(cells, |cell| cell.value.flash.host_written_bytes),
        ),
        (
            Heading::new("programmed_bytes", "B", "Bytes programmed"),
            u64s(cells, |cell| cell.value.flash.programmed_bytes()),
        ),
        (
            Heading::new("page_reads", "", "Pages read from flash"),
            u64s(cells, |cell| cell.value.flash.page_reads()),
        ),
        (
            Heading::new(
                "write_amplification",
                "",
                "Bytes programmed per byte of the writes that the SSDs completed",
            ),
            maybe(cells, |cell| write_amplification(&cell.value.flash)),
        ),
        (
            Heading::new(
                "page_write_amplification",
                "",
                "Pages programmed per page that the host wrote, whole or in part",
            ),
            maybe(cells, |cell| {
                ratio(
                    cell.value.flash.page_programs(),
                    cell.value.flash.host_page_writes,
                )
            }),
        ),
    ]
}

/// Blocks of flash that were collected, went bad or aged.
fn block_columns(cells: &Cells<'_>) -> Vec<Column> {
    vec![
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
        (
            Heading::new("blocks_retired", "", "Blocks that went bad"),
            u64s(cells, |cell| cell.value.flash.blocks_retired),
        ),
        (
            Heading::new(
                "spares_taken",
                "",
                "Spare blocks that took the place of others",
            ),
            u64s(cells, |cell| cell.value.flash.spares_taken),
        ),
        (
            Heading::new(
                "read_retries",
                "",
                "Further reads of pages that could not be corrected at once",
            ),
            u64s(cells, |cell| cell.value.flash.read_retries),
        ),
        (
            Heading::new(
                "refreshes",
                "",
                "Blocks that were moved for the sake of their data (read reclaim, refresh)",
            ),
            u64s(cells, |cell| cell.value.flash.refreshes),
        ),
    ]
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
