//! Instructions of whole processes: `wordline run` with one request and with 100,000, and `wordline
//! cache` and `wordline mrc` with a short trace. They include the start of Python, the preparation
//! of the device, its memory, and the files of the result. Runs the command that `make setup`
//! installs.
#![allow(missing_docs, unused_qualifications)] // on code that the macros below generate

use gungraun::{
    BinaryBenchmarkConfig, Cachegrind, CachegrindMetric, Command, Sandbox, Tool, binary_benchmark,
    binary_benchmark_group, main,
};

const INSTALLED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.venv/bin/");

/// Returns the configuration of a benchmark that fails above `instructions` million instructions,
/// which is about 5 % above the measured value.
fn ceiling(instructions: u64) -> BinaryBenchmarkConfig {
    let mut tool = Cachegrind::with_args(["--cache-sim=no"]);
    tool.hard_limits([(CachegrindMetric::Ir, instructions * 1_000_000)]);
    // Hashing with a fixed seed, and no files outside the result.
    let environment = [("PYTHONHASHSEED", "0"), ("PYTHONDONTWRITEBYTECODE", "1")];
    BinaryBenchmarkConfig::default()
        .default_tool(Tool::Cachegrind)
        .tool(tool)
        .envs(environment)
        .sandbox(Sandbox::new(true))
        .to_owned()
}

// Uniform random reads on `d4`.
#[binary_benchmark]
#[bench::one_request(args = (1), config = ceiling(540))]
#[bench::rr4k(args = (100_000), config = ceiling(771))]
fn run(requests: u64) -> Command {
    let workload = format!(
        "workload={{ requests = {requests}, read_ratio = 1.0, pattern = \"uniform\", \
         request_bytes = 4096, arrival.closed-loop.queue_depth = 32 }}"
    );
    Command::new(format!("{INSTALLED}python"))
        .arg(format!("{INSTALLED}wordline"))
        .args([
            "run",
            "d4",
            "--no-report",
            "--out",
            "result",
            "--set",
            &workload,
        ])
        .build()
}

/// Writes a trace of 1,000 keys to the current folder, which is the sandbox.
fn write_trace() {
    let keys = (0..1_000_u64).flat_map(|request| (request * request % 97).to_le_bytes());
    let written = std::fs::write(TRACE, keys.collect::<Vec<u8>>());
    written.unwrap_or_else(|error| unreachable!("the sandbox is writable: {error}"));
}

const TRACE: &str = "keys.bin";

#[binary_benchmark(setup = write_trace())]
#[bench::cache(args = (&["cache", TRACE, "lru", "10p"]), config = ceiling(191))]
#[bench::shards(args = (&["mrc", TRACE, "--method", "shards"]), config = ceiling(191))]
fn analyse(arguments: &[&str]) -> Command {
    Command::new(format!("{INSTALLED}python"))
        .arg(format!("{INSTALLED}wordline"))
        .args(arguments)
        .args(["--format", "keys64le"])
        .build()
}

binary_benchmark_group!(name = process, benchmarks = [run, analyse]);
main!(binary_benchmark_groups = process);
