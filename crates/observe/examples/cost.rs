//! What observation costs: nanoseconds per call of each sink, on this machine.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::hint::black_box;
use std::time::Instant;
use wordline_kernel::Time;
use wordline_observe::{Busy, Grid, Heading, Histogram, Intervals, Kind, RowTable, Tally};

const CALLS: u64 = 20_000_000;

fn main() {
    // Latencies of 50 us to 3 ms, as a device under load gives.
    let spans: Vec<Time> = (0..4096_u64)
        .map(|i| Time(50_000_000 + (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) * 3 / 2))
        .collect();
    let span = |call: u64| spans[(call & 4095) as usize];

    let mut histogram = Histogram::default();
    cost("histogram.record", CALLS, |call| {
        histogram.record(span(call))
    });
    let mut tally = Tally::default();
    cost("tally.record", CALLS, |call| tally.record(span(call)));
    let mut series = Intervals::<u64>::new(Grid::default());
    cost("intervals.at", CALLS, |call| {
        *series.at(Time(call * 10_000)) += 1;
    });
    let mut series = Intervals::<u64>::new(Grid::default());
    cost("intervals.span", CALLS, |call| {
        series.span(
            Time(call * 10_000),
            Time(call * 10_000) + span(call),
            |sum, part| {
                *sum += part.ps();
            },
        );
    });
    let mut busy = Busy::new(Grid::default(), 64);
    cost("busy.add", CALLS, |call| {
        let from = Time(call * 10_000_000);
        busy.add((call % 64) as usize, from, from + span(call));
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
    rows.finish().unwrap();
    let bytes = std::fs::metadata(&path).unwrap().len() as f64;
    println!(
        "{:24}{:8.2} bytes per row",
        "Parquet",
        bytes / (CALLS / 10) as f64
    );
    std::fs::remove_file(&path).unwrap();
}

fn cost(name: &str, calls: u64, mut call: impl FnMut(u64)) {
    let started = Instant::now();
    for index in 0..calls {
        call(black_box(index));
    }
    println!(
        "{name:24}{:8.2} ns",
        started.elapsed().as_nanos() as f64 / calls as f64
    );
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

fn row(call: u64, latency: Time) -> [u64; 6] {
    let offset = call.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 30 << 12;
    [
        call,
        call & 1,
        offset,
        4096,
        call * 10_000_000,
        latency.ps(),
    ]
}
