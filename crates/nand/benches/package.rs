//! Benchmark of the instructions that the package model executes per transaction. One die, or each
//! of eight dies, erases a block and programs its pages in order, block after block.
#![allow(missing_docs, unused_qualifications)] // both occur in code that the macros below generate

use gungraun::{
    Callgrind, EventKind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};

mod load;

use load::{Idle, dies};

const TRANSACTIONS: u64 = 20_000;

/// Returns the configuration that fails a benchmark above `instructions` instructions per
/// transaction.
fn ceiling(instructions: u64) -> LibraryBenchmarkConfig {
    let mut tool = Callgrind::default();
    tool.hard_limits([(EventKind::Ir, instructions * TRANSACTIONS)]);
    LibraryBenchmarkConfig::default().tool(tool).to_owned()
}

#[library_benchmark]
#[bench::one_die(args = (dies(1)), config = ceiling(1_530))]
#[bench::eight_dies(args = (dies(8)), config = ceiling(1_958))]
fn legacy(mut idle: Idle) -> Idle {
    idle.serve(TRANSACTIONS);
    idle
}

library_benchmark_group!(name = package, benchmarks = legacy);
main!(library_benchmark_groups = package);
