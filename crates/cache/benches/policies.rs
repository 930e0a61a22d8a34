//! Instructions per request of replacement policies over a whole trace: reads of a skewed load, at
//! a tenth of its footprint. `number` assigns numbers to the keys of the trace.
#![allow(missing_docs, unused_qualifications)] // both occur in code that the macros below generate

use gungraun::{
    Callgrind, EventKind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};
use wordline_cache::{Counts, Intake, Replace, Replacement, Replacing, Requests};
use wordline_kernel::Rng;

const REQUESTS: u64 = 100_000;
const KEYS: f64 = 65_536.0;

/// Returns keys whose popularity falls with their rank.
fn keys() -> Vec<u64> {
    let mut random = Rng::new(1, "cache.benches.policies");
    let mut skewed = || (KEYS * random.unit().powi(3)) as u64;
    (0..REQUESTS).map(|_| skewed()).collect()
}

/// Returns a cache of a tenth of the keys, with default parameters, and its requests.
fn under(policy: &str) -> (Replacing, Requests) {
    let policy = serde_json::from_value::<Replacement>(policy.into());
    let policy = policy.unwrap_or_else(|error| unreachable!("{error}"));
    let requests = Requests::from_keys(keys());
    let requests = requests.unwrap_or_else(|error| unreachable!("{error}"));
    let capacity = requests.footprint() as usize / 10;
    (Replacing::new(&policy, capacity), requests)
}

/// Fails the benchmark above this number of instructions per request.
fn ceiling(instructions: u64) -> LibraryBenchmarkConfig {
    let mut tool = Callgrind::default();
    tool.hard_limits([(EventKind::Ir, instructions * REQUESTS)]);
    LibraryBenchmarkConfig::default().tool(tool).to_owned()
}

#[library_benchmark]
#[bench::lru(args = (under("lru")), config = ceiling(74))]
#[bench::fifo(args = (under("fifo")), config = ceiling(36))]
#[bench::clock(args = (under("clock")), config = ceiling(66))]
#[bench::arc(args = (under("arc")), config = ceiling(148))]
#[bench::two_q(args = (under("two-q")), config = ceiling(239))]
#[bench::lirs(args = (under("lirs")), config = ceiling(335))]
#[bench::lfu(args = (under("lfu")), config = ceiling(133))]
#[bench::sieve(args = (under("sieve")), config = ceiling(74))]
#[bench::s3_fifo(args = (under("s3-fifo")), config = ceiling(239))]
#[bench::belady(args = (under("belady")), config = ceiling(126))]
#[bench::cflru(args = (under("cflru")), config = ceiling(164))]
fn replay((policy, requests): (Replacing, Requests)) -> (Counts, Requests) {
    (policy.replay(&requests), requests)
}

#[library_benchmark]
#[bench::number(args = (keys(), Intake::default()), config = ceiling(29))]
fn intake(keys: Vec<u64>, mut intake: Intake) -> Intake {
    for some in keys.chunks(4096) {
        let pushed = intake.push_reads(some);
        pushed.unwrap_or_else(|error| unreachable!("{error}"));
    }
    intake
}

library_benchmark_group!(name = policies, benchmarks = [replay, intake]);
main!(library_benchmark_groups = policies);
