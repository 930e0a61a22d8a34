//! Measures how fast traces are read. Prints the requests per second of each named file, as the
//! best of five runs.
#![allow(clippy::print_stdout)]

use std::time::Instant;

use wordline_workload::{OnBadLine, Source, TimeOrder, Trace, TraceOptions, WorkloadError};

fn main() -> Result<(), WorkloadError> {
    for path in std::env::args().skip(1) {
        let mut best = f64::INFINITY;
        let mut requests = 0_u64;
        for _ in 0..5 {
            let start = Instant::now();
            let mut trace = Trace::open(&[&path], &options())?;
            requests = 0;
            while trace.next_request()?.is_some() {
                requests += 1;
            }
            best = best.min(start.elapsed().as_secs_f64());
        }
        println!(
            "{path}: {requests} requests, {:.2} million/s",
            requests as f64 / best / 1e6
        );
    }
    Ok(())
}

/// Returns options that read a trace as recorded, but skip bad lines and do not let time go
/// backwards.
fn options() -> TraceOptions {
    TraceOptions {
        on_bad_line: OnBadLine::Skip,
        time_order: TimeOrder::Clamp,
        ..TraceOptions::as_recorded()
    }
}
