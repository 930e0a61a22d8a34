//! The tables of runs and curves.

use wordline_observe::{Column, ObserveError, Table, columns};

use super::{Answer, CachePlan, CurveOf, FlashSide, Run};

/// A row for each policy and size.
pub fn run_table(runs: &[Run]) -> Result<Table, ObserveError> {
    let mut columns = columns! { runs;
        policy, "", "With its parameters", |run| run.policy.clone();
        size_pages, "pages", "Pages that the cache holds", |run| run.size_pages;
        size_bytes, "bytes", "The same in bytes", |run| run.size_bytes;
        footprint_ratio, "ratio", "The size by the distinct pages of the trace", |run| run.footprint_ratio;
        requests, "", "Requests for pages, reads and writes", |run| run.requests;
        hits, "", "Requests that found their page", |run| run.hits;
        misses, "", "Requests that did not", |run| run.misses;
        miss_ratio, "ratio", "Misses by requests", |run| run.miss_ratio;
        reads, "", "Requests that read", |run| run.reads;
        read_hits, "", "Reads that found their page", |run| run.read_hits;
        read_miss_ratio, "ratio", "Misses of reads by reads", |run| run.read_miss_ratio;
        writes, "", "Requests that write", |run| run.writes;
        write_hits, "", "Writes that found their page", |run| run.write_hits;
        write_miss_ratio, "ratio", "Misses of writes by writes", |run| run.write_miss_ratio;
        evictions, "", "Pages that left for others", |run| run.evictions;
        write_backs, "", "Those of them that had been written since they came", |run| run.write_backs;
    };
    if runs.iter().any(|run| run.flash.is_some()) {
        columns.extend(flash_columns(runs));
    }
    Table::new(columns)
}

/// What the runs did on flash in front of a disk; null for runs that were not there.
fn flash_columns(runs: &[Run]) -> Vec<Column> {
    let sides: Vec<Option<&FlashSide>> = runs.iter().map(|run| run.flash.as_ref()).collect();
    columns! { &sides;
        flash_capacity_pages, "pages", "Pages that the cache on flash holds: the size in whole blocks",
            |side| side.map(|side| side.capacity_pages as f64);
        flash_hit_ratio, "ratio", "Hits of pages of reads on flash", |side| (*side)?.hit_ratio;
        flash_revived, "", "Of these hits, pages that had been evicted and could still be read",
            |side| side.map(|side| side.revived as f64);
        flash_page_programs, "", "Pages programmed", |side| side.map(|side| side.page_programs as f64);
        flash_write_amplification, "", "Bytes programmed per byte that the cache wrote to its flash",
            |side| (*side)?.write_amplification;
        flash_erases, "", "Blocks erased", |side| side.map(|side| side.erases as f64);
        flash_mean_us, "us", "Mean response time of all requests", |side| (*side)?.mean_us;
        flash_lifetime_years, "", "Years that the flash lasts at this load", |side| (*side)?.lifetime_years;
        flash_disk_utilisation, "ratio", "Share of the time that the disk was at work", |side| (*side)?.disk_utilisation;
    }
}

/// A row for each corner of each curve.
pub fn curve_table(curves: &[CurveOf]) -> Result<Table, ObserveError> {
    let rows: Vec<_> = curves
        .iter()
        .flat_map(|curve| curve.points.iter().map(|point| (&curve.method, point)))
        .collect();
    Table::new(columns! { &rows;
        method, "", "How the curve was found", |(method, _)| (*method).clone();
        size_pages, "pages", "Pages that the cache holds", |(_, point)| point.size_pages;
        miss_ratio, "ratio", "Misses by requests", |(_, point)| point.miss_ratio;
    })
}

/// A row for each policy and size of a plan.
pub fn plan_table(plan: &CachePlan) -> Result<Table, ObserveError> {
    let rows: Vec<&Answer> = plan.sizes.iter().flat_map(|size| &size.answers).collect();
    Table::new(columns! { &rows;
        policy, "", "How the flash is divided", |row| row.policy.clone();
        flash_pages, "pages", "All pages of the flash", |row| row.flash_pages;
        read_pages, "pages", "Cached pages for reads; 0 in one list", |row| row.read_pages.unwrap_or(0);
        write_pages, "pages", "Cached pages for writes, or of the one list", |row| row.write_pages;
        over_provisioning_ratio, "ratio", "Share of the flash that is not cached", |row| Some(row.over_provisioning_ratio);
        page_us, "us", "Mean cost of a page of a request", |row| Some(row.page_us);
        request_us, "us", "Expected mean response time of a request", |row| Some(row.request_us);
        read_request_us, "us", "Expected mean response time of a read", |row| row.read_request_us;
        write_request_us, "us", "Expected mean response time of a write", |row| row.write_request_us;
        read_hit_ratio, "ratio", "Reads that flash serves, by reads", |row| row.read_hit_ratio;
        write_hit_ratio, "ratio", "Writes of what flash holds, by writes", |row| row.write_hit_ratio;
        programs_per_page, "", "Pages that the host and fills program, by pages of requests", |row| Some(row.programs_per_page);
        victim_utilisation, "ratio", "Valid pages in the blocks that collections take", |row| Some(row.victim_utilisation);
        write_amplification, "", "Pages programmed, with those moved, by pages that the host and fills program",
            |row| Some(row.write_amplification);
        written_bytes_per_day, "bytes", "What the host and fills program in a day", |row| row.written_bytes_per_day;
        erases, "", "Blocks erased in the time of the trace", |row| Some(row.erases);
        lifetime_years, "", "Years that the flash lasts at this load", |row| row.lifetime_years;
    })
}
