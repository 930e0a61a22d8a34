//! Cost of observation: nanoseconds per call of each sink, on this machine.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::hint::black_box;
use std::time::Instant;
use wordline_kernel::{BusyTime, Time};
use wordline_observe::{Busy, Grid, Heading, Histogram, Intervals, Kind, RowTable, Tally};

const CALLS: u64 = 20_000_000;
const ROUND: u64 = RowTable::<6>::BATCH as u64;

fn main() {
    // Latencies of 50 us to 3 ms, as from a device under load.
    let spans: Vec<Time> = (0..4096_u64)
        .map(|i| Time(50_000_000 + scattered(i) % 2_950_000_000))
        .collect();
    let span = |call: u64| spans[(call & 4095) as usize];

    let mut histogram = Histogram::default();
    cost("histogram.record", CALLS, |call| {
        histogram.record(span(call));
    });
    let mut tally = Tally::default();
    cost("tally.record", CALLS, |call| tally.record(span(call)));
    let mut series = Intervals::<u64>::new(Grid::default());
    cost("intervals.at", CALLS, |call| {
        *series.at(Time(call * 10_000_000)) += 1;
    });
    let mut series = Intervals::<u64>::new(Grid::default());
    cost("intervals.span", CALLS, |call| {
        let from = Time(call * 10_000_000);
        series.span(from, from + span(call), |sum, part| *sum += part.ps());
    });
    let mut busy = Busy::new(Grid::default(), 64);
    cost("busy.pass, 64 lanes", CALLS / 100, |call| {
        let now = Time(call * 10_000_000);
        busy.pass(now, &[BusyTime::new(now, None); 64]);
    });
    let mut rows = RowTable::in_memory(columns());
    cost("rows.push in memory", CALLS / 10, |call| {
        rows.push(row(call, span(call))).unwrap();
    });
    black_box((
        histogram.percentile(0.99),
        tally,
        series.grid(),
        busy.totals(),
        rows.rows(),
    ));

    let path = std::env::temp_dir().join("wordline-cost.parquet");
    let mut rows = RowTable::to_parquet(columns(), &path).unwrap();
    cost("rows.push to Parquet", CALLS / 10, |call| {
        rows.push(row(call, span(call))).unwrap();
    });
    let written = rows.rows();
    rows.finish().unwrap();
    let bytes = std::fs::metadata(&path).unwrap().len() as f64;
    println!(
        "{:24}{:8.2} bytes per row",
        "Parquet",
        bytes / written as f64
    );
    std::fs::remove_file(&path).unwrap();
}

/// Measures the fastest of many rounds of one batch each: the cost of the call without
/// disturbances.
fn cost(name: &str, calls: u64, mut call: impl FnMut(u64)) {
    let mut best = f64::INFINITY;
    for round in 0..calls / ROUND {
        let started = Instant::now();
        for index in round * ROUND..(round + 1) * ROUND {
            call(black_box(index));
        }
        best = best.min(started.elapsed().as_nanos() as f64 / ROUND as f64);
    }
    println!("{name:24}{best:8.2} ns");
}

fn columns() -> [(Heading, Kind); 6] {
    let number = |name, kind| (Heading::new(name, "", "A number"), kind);
    [
        number("index", Kind::U64),
        number("op", Kind::Word(&["read", "write"])),
        number("offset", Kind::U64),
        number("bytes", Kind::U64),
        number("arrival_ps", Kind::I64),
        number("latency_ps", Kind::I64),
    ]
}

/// Returns the row of a random read or write of 4 KiB; rows are 10 us apart on average. No column
/// is easier to compress than in a real run.
fn row(call: u64, latency: Time) -> [u64; 6] {
    let scatter = scattered(call);
    let arrival = call * 10_000_000 + scatter % 10_000_000;
    let latency = latency.ps() + scatter % 1_000_000;
    [
        call,
        scatter >> 63,
        (scatter >> 30) << 12,
        4096,
        arrival,
        latency,
    ]
}

/// Returns a number without a pattern that a compressor could find, by the finaliser of SplitMix64.
fn scattered(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
