//! Measures instructions per request with Callgrind: for traces in four text formats, one of them
//! also gzip-compressed, and for generated loads.
#![allow(missing_docs, unused_qualifications)] // on code that the macros below generate

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use gungraun::{
    Callgrind, EventKind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};
use wordline_kernel::Rng;
use wordline_workload::generate::{self, Generator};
use wordline_workload::{Source, Trace, TraceOptions};

const REQUESTS: u64 = 20_000;
const SECTOR: u64 = 512;

/// Request of the benchmark traces. Requests arrive half a millisecond apart on average.
struct Asked {
    number: u64,
    reads: bool,
    offset: u64,
    bytes: u64,
}

fn lines(head: &str, line: impl Fn(&Asked) -> String) -> Vec<u8> {
    let mut random = Rng::new(1, "workload.benches.replay");
    let mut text = head.to_owned();
    for number in 0..REQUESTS {
        let asked = Asked {
            number,
            reads: random.below(2) == 0,
            offset: random.below(1 << 20) * 4096,
            bytes: (1 + random.below(8)) * 4096,
        };
        text.push_str(&line(&asked));
    }
    text.into_bytes()
}

fn msr_lines() -> Vec<u8> {
    lines("", |asked| {
        let time = 128_166_372_000_000_000 + asked.number * 5_000;
        let op = if asked.reads { "Read" } else { "Write" };
        let Asked { offset, bytes, .. } = asked;
        format!("{time},host,0,{op},{offset},{bytes},1000\n")
    })
}

/// Returns a trace in MSR's format, the most common comma-separated one.
fn msr() -> Trace {
    open("plain.csv", msr_lines())
}

fn msr_gzip() -> Trace {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    let packed = packer.write_all(&msr_lines());
    assert!(packed.is_ok(), "writing to memory does not fail");
    open("packed.csv.gz", packer.finish().unwrap_or_default())
}

/// Returns a trace in Wordline's own format: comma-separated values with a header.
fn own() -> Trace {
    let text = lines("time_ns,op,offset_bytes,size_bytes,volume\n", |asked| {
        let op = if asked.reads { "read" } else { "write" };
        let Asked { offset, bytes, .. } = asked;
        format!("{},{op},{offset},{bytes},0\n", asked.number * 500_000)
    });
    open("own.csv", text)
}

/// Returns a trace in DiskSim's format: columns separated by blanks, times with a decimal point.
fn disksim() -> Trace {
    let text = lines("", |asked| {
        let (sector, sectors) = (asked.offset / SECTOR, asked.bytes / SECTOR);
        let (ms, flag) = (asked.number / 2, u8::from(asked.reads));
        format!("{ms}.500 0 {sector} {sectors} {flag}\n")
    });
    open("blanks.disksim", text)
}

/// Returns a trace in blkparse's format: columns of fixed width, some of which are not read.
fn blkparse() -> Trace {
    let text = lines("", |asked| {
        let Asked { number, .. } = asked;
        let (sector, sectors) = (asked.offset / SECTOR, asked.bytes / SECTOR);
        let (s, ns) = (number / 2000, number % 2000 * 500_000);
        let op = if asked.reads { "R" } else { "WS" };
        format!("  8,33   1 {number:8} {s:5}.{ns:09}  6742  Q  {op} {sector} + {sectors} [bench]\n")
    });
    open("columns.blkparse", text)
}

fn open(name: &str, bytes: Vec<u8>) -> Trace {
    let trace = Trace::from_bytes(name, bytes, &TraceOptions::default());
    trace.unwrap_or_else(|error| unreachable!("{error}"))
}

/// Returns the default generated load with the access pattern `named`.
fn load(named: &str) -> Generator {
    let config = serde_json::json!({ "requests": REQUESTS, "pattern": named });
    let config: Result<generate::Config, _> = serde_json::from_value(config);
    let config = config.unwrap_or_else(|error| unreachable!("{error}"));
    let load = Generator::new(&config, 1 << 40, 1);
    load.unwrap_or_else(|error| unreachable!("{error}"))
}

/// Limits a benchmark to `instructions` per request, which is about 5 % above the measured number.
fn ceiling(instructions: u64) -> LibraryBenchmarkConfig {
    let mut tool = Callgrind::default();
    tool.hard_limits([(EventKind::Ir, instructions * REQUESTS)]);
    LibraryBenchmarkConfig::default().tool(tool).to_owned()
}

fn bytes_of(mut source: impl Source) -> u64 {
    let mut bytes = 0;
    while let Ok(Some(request)) = source.next_request() {
        bytes += request.bytes;
    }
    bytes
}

#[library_benchmark]
#[bench::msr(args = (msr()), config = ceiling(937))]
#[bench::msr_gzip(args = (msr_gzip()), config = ceiling(1_220))]
#[bench::own(args = (own()), config = ceiling(775))]
#[bench::disksim(args = (disksim()), config = ceiling(810))]
#[bench::blkparse(args = (blkparse()), config = ceiling(1_800))]
fn replay(trace: Trace) -> u64 {
    bytes_of(trace)
}

#[library_benchmark]
#[bench::sequential(args = (load("sequential")), config = ceiling(144))]
#[bench::uniform(args = (load("uniform")), config = ceiling(153))]
#[bench::zipf(args = (load("zipf")), config = ceiling(556))]
fn generated(load: Generator) -> u64 {
    bytes_of(load)
}

library_benchmark_group!(name = traces, benchmarks = replay);
library_benchmark_group!(name = loads, benchmarks = generated);
main!(library_benchmark_groups = traces, loads);
