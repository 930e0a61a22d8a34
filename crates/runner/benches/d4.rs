//! Instructions that a request costs in a run of the preset `d4`: its generation, the host, the device
//! and everything recorded of it. What precedes and follows the loop of the run is not counted. The
//! intervals of the series are as wide as those of a run of a million requests.
#![allow(missing_docs, unused_qualifications)] // what the macros below make

use gungraun::{
    Callgrind, EntryPoint, EventKind, LibraryBenchmarkConfig, library_benchmark,
    library_benchmark_group, main,
};
use wordline_runner::{Done, RunSpec};

const PAGES: u64 = 20_000;

/// A run that touches so many pages, `pages` in each request.
fn job(read_ratio: f64, pattern: &str, pages: u64, overwrite_ratio: f64) -> RunSpec {
    let (requests, bytes) = (PAGES / pages, 4096 * pages);
    RunSpec {
        config: format!(
            "schema = 1\nbase = \"d4\"\n[precondition]\noverwrite_ratio = {overwrite_ratio:?}\n\
             [series]\ninterval_ms = 10\n\
             [workload]\nrequests = {requests}\nread_ratio = {read_ratio:?}\npattern = \"{pattern}\"\n\
             request_bytes = {bytes}\nalign_bytes = {bytes}\narrival.closed-loop.queue_depth = 32"
        ),
        config_name: "d4.toml".into(),
        seed: 1,
        ..RunSpec::default()
    }
}

/// Counts the loop alone, and fails above this many instructions a page, about 5 % above what was
/// measured.
fn ceiling(instructions: u64) -> LibraryBenchmarkConfig {
    let mut tool = Callgrind::default();
    tool.entry_point(EntryPoint::Custom(
        "wordline_runner::simulation::event_loop::serve*".into(),
    ));
    tool.hard_limits([(EventKind::Ir, instructions * PAGES)]);
    LibraryBenchmarkConfig::default().tool(tool).to_owned()
}

#[library_benchmark]
#[bench::rr4k(args = (job(1.0, "uniform", 1, 0.0)), config = ceiling(2_161))]
#[bench::rw4k(args = (job(0.0, "uniform", 1, 0.3)), config = ceiling(9_648))]
#[bench::sw128k(args = (job(0.0, "sequential", 32, 0.0)), config = ceiling(1_107))]
fn run(job: RunSpec) -> Done {
    let done = job.run(&mut |_| true);
    done.unwrap_or_else(|error| unreachable!("{error}"))
}

library_benchmark_group!(name = d4, benchmarks = [run]);
main!(library_benchmark_groups = d4);
