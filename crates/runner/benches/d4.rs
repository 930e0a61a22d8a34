//! Instructions per page of a run with the preset `d4`: the generation of requests, the host, the
//! device, and all recording. Only the event loop is counted. The intervals of the series are as
//! wide as in a run of a million requests.
#![allow(missing_docs, unused_qualifications)] // on code that the macros below generate

mod shared;

use gungraun::{library_benchmark, library_benchmark_group, main};
use shared::{ceiling, done, spec};
use wordline_runner::{Done, RunSpec};

const PAGES: u64 = 20_000;

/// Returns a run that touches a fixed number of pages, `pages` in each request. Dies execute one
/// page at a time.
fn job(read_ratio: f64, pattern: &str, pages: u64, overwrite_ratio: f64) -> RunSpec {
    let (requests, bytes) = (PAGES / pages, 4096 * pages);
    spec(format!(
        "schema = 1\nbase = \"d4\"\n[precondition]\noverwrite_ratio = {overwrite_ratio:?}\n\
         [series]\ninterval_ms = 10\n\
         [workload]\nrequests = {requests}\nread_ratio = {read_ratio:?}\npattern = \"{pattern}\"\n\
         request_bytes = {bytes}\nalign_bytes = {bytes}\narrival.closed-loop.queue_depth = 32"
    ))
}

/// Returns the run with these configuration keys set.
fn with(job: RunSpec, keys: &[(&str, &str)]) -> RunSpec {
    let overrides = keys.iter().map(|&(key, value)| (key.into(), value.into()));
    RunSpec {
        overrides: overrides.collect(),
        ..job
    }
}

/// Returns the run of [`job`] with dies that execute pages of several planes at once.
fn planes(read_ratio: f64, pattern: &str, pages: u64, overwrite_ratio: f64) -> RunSpec {
    let job = job(read_ratio, pattern, pages, overwrite_ratio);
    with(job, &[("ssd.composition", "greedy")])
}

/// Returns a run of random reads that find bit errors. `rates` is an error model: the raw bit error
/// rate is constant, or rises with the reads of a block.
fn errors(rates: &str) -> RunSpec {
    let keys = [("nand.reliability.errors", rates), ("ssd.ecc", "bch")];
    with(job(1.0, "uniform", 1, 0.0), &keys)
}

/// Returns a run of random writes with this schedule of GC.
fn collecting(schedule: &str) -> RunSpec {
    with(
        job(0.0, "uniform", 1, 0.3),
        &[("ftl.gc.schedule", schedule)],
    )
}

/// Returns a run of random reads with this scheduler and composition, at this queue depth.
fn scheduled(scheduler: &str, composition: &str, depth: u32) -> RunSpec {
    let job = job(1.0, "uniform", 1, 0.0);
    let depth = depth.to_string();
    let keys = [
        ("ssd.composition", composition),
        ("ssd.scheduler", scheduler),
        ("host.queue_depth", &depth),
        ("workload.arrival.closed-loop.queue_depth", &depth),
    ];
    with(job, &keys)
}

const CONSTANT: &str = "{ table = {} }";
const DISTURBED: &str = "{ table = { per_read = [1e-7] } }";

#[library_benchmark]
#[bench::rr4k(args = (job(1.0, "uniform", 1, 0.0)), config = ceiling(2_120, PAGES))]
#[bench::rw4k(args = (job(0.0, "uniform", 1, 0.3)), config = ceiling(9_648, PAGES))]
#[bench::sw128k(args = (job(0.0, "sequential", 32, 0.0)), config = ceiling(1_107, PAGES))]
#[bench::rr4k_planes(args = (planes(1.0, "uniform", 1, 0.0)), config = ceiling(2_640, PAGES))]
#[bench::rw4k_planes(args = (planes(0.0, "uniform", 1, 0.3)), config = ceiling(14_230, PAGES))]
#[bench::sw128k_planes(args = (planes(0.0, "sequential", 32, 0.0)), config = ceiling(1_655, PAGES))]
#[bench::errors(args = (errors(CONSTANT)), config = ceiling(3_546, PAGES))]
#[bench::errors_disturbed(args = (errors(DISTURBED)), config = ceiling(3_597, PAGES))]
#[bench::vaq_32(args = (scheduled("vaq", "off", 32)), config = ceiling(3_700, PAGES))]
#[bench::vaq_1024(args = (scheduled("vaq", "off", 1_024)), config = ceiling(3_720, PAGES))]
#[bench::ncq_32(args = (scheduled("ncq", "off", 32)), config = ceiling(3_640, PAGES))]
#[bench::paq1_32(args = (scheduled("paq1", "off", 32)), config = ceiling(4_270, PAGES))]
#[bench::paq1_1024(args = (scheduled("paq1", "off", 1_024)), config = ceiling(4_480, PAGES))]
#[bench::sprinkler_32(args = (scheduled("sprinkler", "greedy", 32)), config = ceiling(4_330, PAGES))]
#[bench::sprinkler_1024(args = (scheduled("sprinkler", "greedy", 1_024)), config = ceiling(5_760, PAGES))]
#[bench::rw4k_agc(args = (collecting("agc")), config = ceiling(26_365, PAGES))]
fn run(job: RunSpec) -> Done {
    done(&job)
}

library_benchmark_group!(name = d4, benchmarks = [run]);
main!(library_benchmark_groups = d4);
