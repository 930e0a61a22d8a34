//! Instructions that a read of 4 KiB costs on a disk with positions: its generation, the host, the disk and everything
//! recorded of it. What precedes and follows the loop of the run is not counted.
#![allow(missing_docs, unused_qualifications)] // what the macros below make

use gungraun::{
    Callgrind, EntryPoint, EventKind, LibraryBenchmarkConfig, library_benchmark,
    library_benchmark_group, main,
};
use wordline_runner::{Done, RunSpec};

const READS: u64 = 20_000;

/// Reads anywhere on an Atlas 10K IV, 32 at a time.
fn job(queue: &str) -> RunSpec {
    RunSpec {
        config: format!(
            "schema = 1\nbase = \"atlas-10k-iv\"\n[disk]\nqueue = \"{queue}\"\n[series]\ninterval_ms = 10_000\n\
             [workload]\nrequests = {READS}\nread_ratio = 1.0\n\
             request_bytes = 4096\nalign_bytes = 4096\narrival.closed-loop.queue_depth = 32"
        ),
        config_name: "disk.toml".into(),
        seed: 1,
        ..RunSpec::default()
    }
}

/// Counts the loop alone, and fails above this many instructions a read, about 5 % above what was
/// measured.
fn ceiling(instructions: u64) -> LibraryBenchmarkConfig {
    let mut tool = Callgrind::default();
    tool.entry_point(EntryPoint::Custom(
        "wordline_runner::simulation::event_loop::serve*".into(),
    ));
    tool.hard_limits([(EventKind::Ir, instructions * READS)]);
    LibraryBenchmarkConfig::default().tool(tool).to_owned()
}

#[library_benchmark]
#[bench::fcfs(args = (job("fcfs")), config = ceiling(4_500))]
#[bench::c_look(args = (job("c-look")), config = ceiling(5_325))]
fn run(job: RunSpec) -> Done {
    let done = job.run(&mut |_| true);
    done.unwrap_or_else(|error| unreachable!("{error}"))
}

library_benchmark_group!(name = disk, benchmarks = [run]);
main!(library_benchmark_groups = disk);
