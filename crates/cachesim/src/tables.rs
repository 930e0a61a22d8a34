//! The tables of runs and curves.

use wordline_observe::{Heading, ObserveError, Table, Values};

use super::{Answer, CachePlan, CurveOf, FlashSide, Run};

/// A row for each policy and size.
pub fn run_table(runs: &[Run]) -> Result<Table, ObserveError> {
    let counts = |of: fn(&Run) -> u64| Values::from(runs.iter().map(of).collect::<Vec<_>>());
    let ratios = |of: fn(&Run) -> f64| Values::from(runs.iter().map(of).collect::<Vec<_>>());
    let maybe = |of: fn(&Run) -> Option<f64>| Values::from(runs.iter().map(of).collect::<Vec<_>>());
    let names: Vec<String> = runs.iter().map(|run| run.policy.clone()).collect();
    let of = Heading::new;
    let mut columns = vec![
        (of("policy", "", "With its parameters"), names.into()),
        (
            of("size_pages", "pages", "Pages that the cache holds"),
            counts(|run| run.size_pages),
        ),
        (
            of("size_bytes", "bytes", "The same in bytes"),
            counts(|run| run.size_bytes),
        ),
        (
            of(
                "footprint_ratio",
                "ratio",
                "The size by the distinct pages of the trace",
            ),
            ratios(|run| run.footprint_ratio),
        ),
        (
            of("requests", "", "Requests for pages, reads and writes"),
            counts(|run| run.requests),
        ),
        (
            of("hits", "", "Requests that found their page"),
            counts(|run| run.hits),
        ),
        (
            of("misses", "", "Requests that did not"),
            counts(|run| run.misses),
        ),
        (
            of("miss_ratio", "ratio", "Misses by requests"),
            ratios(|run| run.miss_ratio),
        ),
        (
            of("reads", "", "Requests that read"),
            counts(|run| run.reads),
        ),
        (
            of("read_hits", "", "Reads that found their page"),
            counts(|run| run.read_hits),
        ),
        (
            of("read_miss_ratio", "ratio", "Misses of reads by reads"),
            maybe(|run| run.read_miss_ratio),
        ),
        (
            of("writes", "", "Requests that write"),
            counts(|run| run.writes),
        ),
        (
            of("write_hits", "", "Writes that found their page"),
            counts(|run| run.write_hits),
        ),
        (
            of("write_miss_ratio", "ratio", "Misses of writes by writes"),
            maybe(|run| run.write_miss_ratio),
        ),
        (
            of("evictions", "", "Pages that left for others"),
            counts(|run| run.evictions),
        ),
        (
            of(
                "write_backs",
                "",
                "Those of them that had been written since they came",
            ),
            counts(|run| run.write_backs),
        ),
    ];
    if runs.iter().any(|run| run.flash.is_some()) {
        columns.extend(flash_columns(runs));
    }
    Table::new(columns)
}

/// What the runs did on flash in front of a disk.
fn flash_columns(runs: &[Run]) -> Vec<(Heading, Values)> {
    type Figure = fn(&FlashSide) -> Option<f64>;
    let columns: [(&'static str, &'static str, &'static str, Figure); 9] = [
        (
            "flash_capacity_pages",
            "pages",
            "Pages that the cache on flash holds: the size in whole blocks",
            |side| Some(side.capacity_pages as f64),
        ),
        (
            "flash_hit_ratio",
            "ratio",
            "Hits of pages of reads on flash",
            |side| side.hit_ratio,
        ),
        (
            "flash_revived",
            "",
            "Of these hits, pages that had been evicted and could still be read",
            |side| Some(side.revived as f64),
        ),
        ("flash_page_programs", "", "Pages programmed", |side| {
            Some(side.page_programs as f64)
        }),
        (
            "flash_write_amplification",
            "",
            "Bytes programmed per byte that the cache wrote to its flash",
            |side| side.write_amplification,
        ),
        ("flash_erases", "", "Blocks erased", |side| {
            Some(side.erases as f64)
        }),
        (
            "flash_mean_us",
            "us",
            "Mean response time of all requests",
            |side| side.mean_us,
        ),
        (
            "flash_lifetime_years",
            "",
            "Years that the flash lasts at this load",
            |side| side.lifetime_years,
        ),
        (
            "flash_disk_utilisation",
            "ratio",
            "Share of the time that the disk was at work",
            |side| side.disk_utilisation,
        ),
    ];
    let column = |(name, unit, words, figure): (_, _, _, Figure)| {
        let values: Vec<Option<f64>> = runs.iter().map(|run| figure(run.flash.as_ref()?)).collect();
        (Heading::new(name, unit, words), Values::from(values))
    };
    columns.into_iter().map(column).collect()
}

/// A row for each corner of each curve.
pub fn curve_table(curves: &[CurveOf]) -> Result<Table, ObserveError> {
    let rows = || {
        let points = |curve: &'_ CurveOf| curve.points.clone();
        curves.iter().flat_map(move |curve| {
            points(curve)
                .into_iter()
                .map(|point| (&curve.method, point))
        })
    };
    let names: Vec<String> = rows().map(|(method, _)| method.clone()).collect();
    let sizes: Vec<f64> = rows().map(|(_, point)| point.size_pages).collect();
    let ratios: Vec<f64> = rows().map(|(_, point)| point.miss_ratio).collect();
    Table::new(vec![
        (
            Heading::new("method", "", "How the curve was found"),
            names.into(),
        ),
        (
            Heading::new("size_pages", "pages", "Pages that the cache holds"),
            sizes.into(),
        ),
        (
            Heading::new("miss_ratio", "ratio", "Misses by requests"),
            ratios.into(),
        ),
    ])
}

/// A column of answers: its name, its unit, what it holds, and that of an answer.
type Described<T> = (&'static str, &'static str, &'static str, fn(&Answer) -> T);

/// Columns of an answer, except its pages.
const FIGURES: [Described<Option<f64>>; 13] = [
    (
        "over_provisioning_ratio",
        "ratio",
        "Share of the flash that is not cached",
        |row| Some(row.over_provisioning_ratio),
    ),
    ("page_us", "us", "Mean cost of a page of a request", |row| {
        Some(row.page_us)
    }),
    (
        "request_us",
        "us",
        "Expected mean response time of a request",
        |row| Some(row.request_us),
    ),
    (
        "read_request_us",
        "us",
        "Expected mean response time of a read",
        |row| row.read_request_us,
    ),
    (
        "write_request_us",
        "us",
        "Expected mean response time of a write",
        |row| row.write_request_us,
    ),
    (
        "read_hit_ratio",
        "ratio",
        "Reads that flash serves, by reads",
        |row| row.read_hit_ratio,
    ),
    (
        "write_hit_ratio",
        "ratio",
        "Writes of what flash holds, by writes",
        |row| row.write_hit_ratio,
    ),
    (
        "programs_per_page",
        "",
        "Pages that the host and fills program, by pages of requests",
        |row| Some(row.programs_per_page),
    ),
    (
        "victim_utilisation",
        "ratio",
        "Valid pages in the blocks that collections take",
        |row| Some(row.victim_utilisation),
    ),
    (
        "write_amplification",
        "",
        "Pages programmed, with those moved, by pages that the host and fills program",
        |row| Some(row.write_amplification),
    ),
    (
        "written_bytes_per_day",
        "bytes",
        "What the host and fills program in a day",
        |row| row.written_bytes_per_day,
    ),
    (
        "erases",
        "",
        "Blocks erased in the time of the trace",
        |row| Some(row.erases),
    ),
    (
        "lifetime_years",
        "",
        "Years that the flash lasts at this load",
        |row| row.lifetime_years,
    ),
];

/// A row for each policy and size of a plan.
pub fn plan_table(plan: &CachePlan) -> Result<Table, ObserveError> {
    let rows: Vec<&Answer> = plan.sizes.iter().flat_map(|size| &size.answers).collect();
    let names: Vec<String> = rows.iter().map(|row| row.policy.clone()).collect();
    let pages: [Described<u64>; 3] = [
        ("flash_pages", "pages", "All pages of the flash", |row| {
            row.flash_pages
        }),
        (
            "read_pages",
            "pages",
            "Cached pages for reads; 0 in one list",
            |row| row.read_pages.unwrap_or(0),
        ),
        (
            "write_pages",
            "pages",
            "Cached pages for writes, or of the one list",
            |row| row.write_pages,
        ),
    ];
    let mut columns = vec![(
        Heading::new("policy", "", "How the flash is divided"),
        names.into(),
    )];
    for (name, unit, words, of) in pages {
        let values: Vec<u64> = rows.iter().map(|row| of(row)).collect();
        columns.push((Heading::new(name, unit, words), Values::from(values)));
    }
    for (name, unit, words, of) in FIGURES {
        let values: Vec<Option<f64>> = rows.iter().map(|row| of(row)).collect();
        columns.push((Heading::new(name, unit, words), Values::from(values)));
    }
    Table::new(columns)
}
