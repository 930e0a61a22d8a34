//! Instructions per request of a run with the preset `d4` as a cache. The backing store is a disk
//! with constant access time, with one miss in a hundred requests, or a positioned disk, with three
//! misses in ten. Only the event loop is counted.
#![allow(missing_docs, unused_qualifications)] // on code that the macros below generate

mod shared;

use gungraun::{library_benchmark, library_benchmark_group, main};
use shared::{ceiling, done, spec};
use wordline_runner::{Done, RunSpec};

const READS: u64 = 40_000;

/// Returns a run of single-page reads over a working set of 400 pages.
fn job(replacement: &str) -> RunSpec {
    spec(format!(
        "schema = 1\nbase = \"d4\"\n[host]\ninterface = \"direct\"\n[cache]\nreplacement = \"{replacement}\"\n\
         [disk]\ncapacity_bytes = 1_638_400\nmodel = \"constant\"\n[series]\ninterval_ms = 10\n\
         [workload]\nrequests = {READS}\nread_ratio = 1.0\n\
         request_bytes = 4096\nalign_bytes = 4096\narrival.closed-loop.queue_depth = 32"
    ))
}

const MANY_READS: u64 = 160_000;

/// Returns a run of single-page reads from an Atlas 10K IV through a cache of one die, which holds
/// seven tenths of the working set. Once the cache is full, three reads in ten miss. GC reclaims the
/// pages that the misses evict.
fn missing(queue: &str) -> RunSpec {
    spec(format!(
        "schema = 1\nbase = \"d4\"\n[ssd]\nchannels = 1\nways = 1\n[nand.geometry]\nblocks_per_plane = 64\n\
         [host]\ninterface = \"direct\"\n[cache]\nreplacement = \"lru\"\n\
         [disk]\nbase = \"atlas-10k-iv\"\nqueue = \"{queue}\"\n[series]\ninterval_ms = 10_000\n\
         [workload]\nrequests = {MANY_READS}\nread_ratio = 1.0\nworking_set_ratio = 0.00027\n\
         request_bytes = 4096\nalign_bytes = 4096\narrival.closed-loop.queue_depth = 32"
    ))
}

/// Returns a run of single-page requests, half reads and half writes, over a working set of 400
/// pages. The writes stay in flash.
fn back() -> RunSpec {
    let mut job = job("lru");
    job.config = job
        .config
        .replace("replacement = \"lru\"", "mode = \"write-back\"")
        .replace("read_ratio = 1.0", "read_ratio = 0.5");
    job
}

#[library_benchmark]
#[bench::lru(args = (job("lru")), config = ceiling(4_650, READS))]
#[bench::arc(args = (job("arc")), config = ceiling(4_660, READS))]
#[bench::missing(args = (missing("fcfs")), config = ceiling(8_790, MANY_READS))]
#[bench::back(args = (back()), config = ceiling(5_450, READS))]
fn run(job: RunSpec) -> Done {
    done(&job)
}

library_benchmark_group!(name = cached, benchmarks = [run]);
main!(library_benchmark_groups = cached);
