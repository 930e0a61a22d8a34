//! Instructions that a request costs in a run of the preset `d4` as a cache: in front of a disk that takes the same time
//! for every access, where all but one in a hundred are served from flash, and in front of a disk with positions, where
//! three in ten are not. What precedes and follows the loop of the run is not counted.
#![allow(missing_docs, unused_qualifications)] // what the macros below make

use gungraun::{
    Callgrind, EntryPoint, EventKind, LibraryBenchmarkConfig, library_benchmark,
    library_benchmark_group, main,
};
use wordline_runner::{Done, RunSpec};

const READS: u64 = 40_000;

/// Reads of a page each of a working set of 400 pages.
fn job(replacement: &str) -> RunSpec {
    RunSpec {
        config: format!(
            "schema = 1\nbase = \"d4\"\n[host]\ninterface = \"direct\"\n[cache]\nreplacement = \"{replacement}\"\n\
             [disk]\ncapacity_bytes = 1_638_400\nmodel = \"constant\"\n[series]\ninterval_ms = 10\n\
             [workload]\nrequests = {READS}\nread_ratio = 1.0\n\
             request_bytes = 4096\nalign_bytes = 4096\narrival.closed-loop.queue_depth = 32"
        ),
        config_name: "d4.toml".into(),
        seed: 1,
        ..RunSpec::default()
    }
}

const MANY_READS: u64 = 160_000;

/// Reads of a page each from an Atlas 10K IV through one die; it holds seven tenths of what is read, so that three reads
/// in ten miss once it is full, and every miss collects.
fn missing(queue: &str) -> RunSpec {
    RunSpec {
        config: format!(
            "schema = 1\nbase = \"d4\"\n[ssd]\nchannels = 1\nways = 1\n[nand.geometry]\nblocks_per_plane = 64\n\
             [host]\ninterface = \"direct\"\n[cache]\nreplacement = \"lru\"\n\
             [disk]\nbase = \"atlas-10k-iv\"\nqueue = \"{queue}\"\n[series]\ninterval_ms = 10_000\n\
             [workload]\nrequests = {MANY_READS}\nread_ratio = 1.0\nworking_set_ratio = 0.00027\n\
             request_bytes = 4096\nalign_bytes = 4096\narrival.closed-loop.queue_depth = 32"
        ),
        config_name: "d4.toml".into(),
        seed: 1,
        ..RunSpec::default()
    }
}

/// Half reads, half writes of a page each, of a working set of 400 pages; the writes stay in flash.
fn back() -> RunSpec {
    let mut job = job("lru");
    job.config = job
        .config
        .replace("replacement = \"lru\"", "mode = \"write-back\"")
        .replace("read_ratio = 1.0", "read_ratio = 0.5");
    job
}

/// Counts the loop alone, and fails above this many instructions a read, about 5 % above what was
/// measured.
fn ceiling(instructions: u64, reads: u64) -> LibraryBenchmarkConfig {
    let mut tool = Callgrind::default();
    tool.entry_point(EntryPoint::Custom(
        "wordline_runner::simulation::event_loop::serve*".into(),
    ));
    tool.hard_limits([(EventKind::Ir, instructions * reads)]);
    LibraryBenchmarkConfig::default().tool(tool).to_owned()
}

#[library_benchmark]
#[bench::lru(args = (job("lru")), config = ceiling(4_780, READS))]
#[bench::arc(args = (job("arc")), config = ceiling(4_780, READS))]
#[bench::missing(args = (missing("fcfs")), config = ceiling(8_950, MANY_READS))]
#[bench::back(args = (back()), config = ceiling(5_450, READS))]
fn run(job: RunSpec) -> Done {
    let done = job.run(&mut |_| true);
    done.unwrap_or_else(|error| unreachable!("{error}"))
}

library_benchmark_group!(name = cached, benchmarks = [run]);
main!(library_benchmark_groups = cached);
