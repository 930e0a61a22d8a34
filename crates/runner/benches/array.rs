//! Instructions per request of a run with a striped array of SSDs with the preset `d4`. Only the
//! event loop is counted.
#![allow(missing_docs, unused_qualifications)] // on code that the macros below generate

mod shared;

use gungraun::{library_benchmark, library_benchmark_group, main};
use shared::{ceiling, done, spec};
use wordline_runner::{Done, RunSpec};

const REQUESTS: u64 = 20_000;

/// Returns a run of single-page requests at random addresses.
fn job(read_ratio: f64) -> RunSpec {
    spec(format!(
        "schema = 1\nbase = \"d4\"\n[array]\nstripe_bytes = 65_536\nmembers = [{{ name = \"ssd\", count = 6 }}]\n\
         [series]\ninterval_ms = 10\n\
         [workload]\nrequests = {REQUESTS}\nread_ratio = {read_ratio:?}\n\
         request_bytes = 4096\nalign_bytes = 4096\narrival.closed-loop.queue_depth = 32"
    ))
}

#[library_benchmark]
#[bench::rr4k(args = (job(1.0)), config = ceiling(4_095, REQUESTS))]
#[bench::rw4k(args = (job(0.0)), config = ceiling(4_590, REQUESTS))]
fn run(job: RunSpec) -> Done {
    done(&job)
}

library_benchmark_group!(name = array, benchmarks = [run]);
main!(library_benchmark_groups = array);
