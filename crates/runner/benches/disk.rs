//! Instructions per 4 KiB read of a positioned disk: the generation of the request, the host, the
//! disk, and all recording. Only the event loop is counted.
#![allow(missing_docs, unused_qualifications)] // on code that the macros below generate

mod shared;

use gungraun::{library_benchmark, library_benchmark_group, main};
use shared::{ceiling, done, spec};
use wordline_runner::{Done, RunSpec};

const READS: u64 = 20_000;

/// Returns a run of random reads of an Atlas 10K IV, 32 at a time.
fn job(queue: &str) -> RunSpec {
    spec(format!(
        "schema = 1\nbase = \"atlas-10k-iv\"\n[disk]\nqueue = \"{queue}\"\n[series]\ninterval_ms = 10_000\n\
         [workload]\nrequests = {READS}\nread_ratio = 1.0\n\
         request_bytes = 4096\nalign_bytes = 4096\narrival.closed-loop.queue_depth = 32"
    ))
}

#[library_benchmark]
#[bench::fcfs(args = (job("fcfs")), config = ceiling(4_500, READS))]
#[bench::c_look(args = (job("c-look")), config = ceiling(5_325, READS))]
fn run(job: RunSpec) -> Done {
    done(&job)
}

library_benchmark_group!(name = disk, benchmarks = [run]);
main!(library_benchmark_groups = disk);
