//! Tables of runs, curves and plans.

use wordline_observe::{Column, ObserveError, Table, columns};

use super::{Answer, CachePlan, CurveOf, FlashSide, Run};

/// Builds the table of runs: one row per policy and size.
pub fn run_table(runs: &[Run]) -> Result<Table, ObserveError> {
    let mut columns = columns! { runs;
        policy, "", "Policy with its parameters", |run| run.policy.clone();
        size_pages, "pages", "Pages that the cache holds", |run| run.size_pages;
        size_bytes, "bytes", "Size of the cache in bytes", |run| run.size_bytes;
        footprint_ratio, "ratio", "Size relative to the distinct pages of the trace", |run| run.footprint_ratio;
        requests, "", "Requests for pages, reads and writes", |run| run.requests;
        hits, "", "Page requests that hit", |run| run.hits;
        misses, "", "Page requests that missed", |run| run.misses;
        miss_ratio, "ratio", "Page misses per page request", |run| run.miss_ratio;
        reads, "", "Page reads", |run| run.reads;
        read_hits, "", "Page reads that hit", |run| run.read_hits;
        read_miss_ratio, "ratio", "Read misses per page read", |run| run.read_miss_ratio;
        writes, "", "Page writes", |run| run.writes;
        write_hits, "", "Page writes that hit", |run| run.write_hits;
        write_miss_ratio, "ratio", "Write misses per page write", |run| run.write_miss_ratio;
        evictions, "", "Pages evicted", |run| run.evictions;
        write_backs, "", "Evicted pages that had been written since their insertion", |run| run.write_backs;
    };
    if runs.iter().any(|run| run.flash.is_some()) {
        columns.extend(flash_columns(runs));
    }
    Table::new(columns)
}

/// Returns the columns with the results of runs on a flash cache in front of a disk. Values are
/// null for runs without flash.
fn flash_columns(runs: &[Run]) -> Vec<Column> {
    let sides: Vec<Option<&FlashSide>> = runs.iter().map(|run| run.flash.as_ref()).collect();
    columns! { &sides;
        flash_capacity_pages, "pages", "Size of the flash cache, which is a whole number of blocks",
            |side| side.map(|side| side.capacity_pages as f64);
        flash_hit_ratio, "ratio", "Hit ratio of page reads on flash", |side| (*side)?.hit_ratio;
        flash_revived, "", "Read hits of pages that had been evicted and could still be read",
            |side| side.map(|side| side.revived as f64);
        flash_page_programs, "", "Pages programmed in the flash", |side| side.map(|side| side.page_programs as f64);
        flash_write_amplification, "", "Bytes programmed per byte that the cache wrote to its flash",
            |side| (*side)?.write_amplification;
        flash_erases, "", "Blocks erased in the flash", |side| side.map(|side| side.erases as f64);
        flash_mean_us, "us", "Mean response time of all requests, with the flash cache", |side| (*side)?.mean_us;
        flash_lifetime_years, "", "Lifetime of the flash at this load. Years", |side| (*side)?.lifetime_years;
        flash_disk_utilisation, "ratio", "Share of the time in which the disk was busy", |side| (*side)?.disk_utilisation;
    }
}

/// Builds the table of curves: one row per corner.
pub fn curve_table(curves: &[CurveOf]) -> Result<Table, ObserveError> {
    let rows: Vec<_> = curves
        .iter()
        .flat_map(|curve| curve.points.iter().map(|point| (&curve.method, point)))
        .collect();
    Table::new(columns! { &rows;
        method, "", "Method that computed the curve", |(method, _)| (*method).clone();
        size_pages, "pages", "Pages that the cache holds", |(_, point)| point.size_pages;
        miss_ratio, "ratio", "Page misses per page request", |(_, point)| point.miss_ratio;
    })
}

/// Builds the table of a plan: one row per policy and size.
pub fn plan_table(plan: &CachePlan) -> Result<Table, ObserveError> {
    let rows: Vec<&Answer> = plan.sizes.iter().flat_map(|size| &size.answers).collect();
    Table::new(columns! { &rows;
        policy, "", "Policy that divides the flash", |row| row.policy.clone();
        flash_pages, "pages", "Pages of the flash, including over-provisioning", |row| row.flash_pages;
        read_pages, "pages", "Pages of the read list; 0 with a single list", |row| row.read_pages.unwrap_or(0);
        write_pages, "pages", "Pages of the write list, or of the single list", |row| row.write_pages;
        over_provisioning_ratio, "ratio", "Share of the flash that does not store cached pages", |row| Some(row.over_provisioning_ratio);
        page_us, "us", "Mean time of a page access, according to the cost model", |row| Some(row.page_us);
        request_us, "us", "Expected mean response time of a request", |row| Some(row.request_us);
        read_request_us, "us", "Expected mean response time of a read", |row| row.read_request_us;
        write_request_us, "us", "Expected mean response time of a write", |row| row.write_request_us;
        read_hit_ratio, "ratio", "Share of page reads that the flash serves", |row| row.read_hit_ratio;
        write_hit_ratio, "ratio", "Share of page writes that overwrite a page in the flash", |row| row.write_hit_ratio;
        programs_per_page, "", "Pages programmed for host writes and fills, per page requested", |row| Some(row.programs_per_page);
        victim_utilisation, "ratio", "Mean share of valid pages in GC victims", |row| Some(row.victim_utilisation);
        write_amplification, "", "Pages programmed, including GC copies, per page programmed for host writes and fills",
            |row| Some(row.write_amplification);
        written_bytes_per_day, "bytes", "Bytes programmed for host writes and fills, per day", |row| row.written_bytes_per_day;
        erases, "", "Blocks erased during the trace", |row| Some(row.erases);
        lifetime_years, "", "Lifetime of the flash at this load. Years", |row| row.lifetime_years;
    })
}
