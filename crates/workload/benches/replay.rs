//! Instructions that a request of a trace costs: plain MSR CSV, and the same packed with gzip.
#![allow(missing_docs, unused_qualifications)] // what the macros below make

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use gungraun::{
    Callgrind, EventKind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};
use wordline_kernel::Stream;
use wordline_workload::{Source, Trace, TraceOptions};

const REQUESTS: u64 = 20_000;

fn csv() -> Vec<u8> {
    let mut random = Stream::new(1, "workload.benches.replay");
    let mut text = String::new();
    for number in 0..REQUESTS {
        let time = 128_166_372_000_000_000 + number * 5_000;
        let op = if random.below(2) == 0 {
            "Read"
        } else {
            "Write"
        };
        let (offset, size) = (random.below(1 << 20) * 4096, (1 + random.below(8)) * 4096);
        let line = writeln!(text, "{time},host,0,{op},{offset},{size},1000");
        assert!(line.is_ok(), "text takes any line");
    }
    text.into_bytes()
}

fn plain() -> Trace {
    open("plain.csv", csv())
}

fn gzip() -> Trace {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    assert!(packer.write_all(&csv()).is_ok(), "memory takes any bytes");
    open("packed.csv.gz", packer.finish().unwrap_or_default())
}

fn open(name: &str, bytes: Vec<u8>) -> Trace {
    let trace = Trace::from_bytes(name, bytes, &TraceOptions::default());
    trace.unwrap_or_else(|error| unreachable!("{error}"))
}

/// Fails the benchmark above this many instructions a request, about 5 % above what was measured.
fn ceiling(instructions: u64) -> LibraryBenchmarkConfig {
    let mut tool = Callgrind::default();
    tool.hard_limits([(EventKind::Ir, instructions * REQUESTS)]);
    LibraryBenchmarkConfig::default().tool(tool).to_owned()
}

#[library_benchmark]
#[bench::plain(args = (plain()), config = ceiling(1_470))]
#[bench::gzip(args = (gzip()), config = ceiling(2_270))]
fn replay(mut trace: Trace) -> u64 {
    let mut bytes = 0;
    while let Ok(Some(request)) = trace.next_request() {
        bytes += request.bytes;
    }
    bytes
}

library_benchmark_group!(name = msr, benchmarks = replay);
main!(library_benchmark_groups = msr);
