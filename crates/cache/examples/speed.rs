//! Measures the speed of each replacement policy on the Zipf trace of the ground-truth test, in
//! requests per second of CPU time.
//!
//! `cargo run --release -p wordline-cache --example speed [POLICY...]`
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

#[path = "../tests/it/zipf.rs"]
mod zipf;

use std::fs::File;
use std::io::{Seek, Write};

use cpu_time::ProcessTime;
use wordline_cache::trace::one_by_one;
use wordline_cache::{Counts, Intake, Replace, Replacement, Replacing, Requests, Visit, Width};
use wordline_kernel::random::splitmix;

const COUNT: usize = 10_000_000;
const REPEATS: usize = 5;
const SIZES: [usize; 3] = [7_632, 76_327, 381_637];

/// Runs `work` [`REPEATS`] times. Prints the shortest CPU time, in seconds, and the requests per
/// second. Returns the last result.
fn timed<T>(what: &str, mut work: impl FnMut() -> T) -> T {
    let (mut best, mut answer) = (f64::INFINITY, None);
    for _ in 0..REPEATS {
        let begun = ProcessTime::now();
        answer = Some(work());
        best = best.min(begun.elapsed().as_secs_f64());
    }
    let rate = COUNT as f64 / best / 1e6;
    println!("{what:<38} {best:6.3} s {rate:7.1} M/s");
    answer.unwrap()
}

/// Operation that runs a policy one request at a time, without its fast path for whole traces.
struct OneByOne<'a>(&'a Requests);

impl Visit for OneByOne<'_> {
    type Answer = Counts;
    fn visit(self, policy: &mut impl Replace) -> Counts {
        one_by_one(policy, self.0)
    }
}

/// Returns the requests for `keys`, of which three in ten are writes.
fn with_writes(keys: &[u64]) -> Requests {
    let mut intake = Intake::default();
    for (place, &key) in keys.iter().enumerate() {
        intake.push(key, splitmix(place as u64) % 10 < 3).unwrap();
    }
    intake.finish()
}

fn plain(id: u64) -> u64 {
    id
}

fn tempfile() -> File {
    let path = std::env::temp_dir().join(format!("wordline-speed-{}", std::process::id()));
    let mut options = File::options();
    let file = options
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)
        .unwrap();
    std::fs::remove_file(path).unwrap();
    file
}

fn main() {
    let keys = zipf::keys(COUNT);
    let mut requests = Requests::default();
    for (what, key) in [("dense", plain as fn(u64) -> u64), ("scattered", splitmix)] {
        let bytes: Vec<u8> = keys.iter().flat_map(|&id| key(id).to_le_bytes()).collect();
        let mut file = tempfile();
        file.write_all(&bytes).unwrap();
        let what = format!("read file, {what} keys of 8 bytes");
        requests = timed(&what, || {
            file.rewind().unwrap();
            Requests::read(&file, Width::Eight).unwrap()
        });
    }
    let written = with_writes(&keys);
    let names: Vec<String> = std::env::args().skip(1).collect();
    for policy in Replacement::defaults() {
        if !names.is_empty() && !names.iter().any(|name| name == policy.name()) {
            continue;
        }
        for size in SIZES {
            let new = || Replacing::new(&policy, size);
            let what = format!("{} {size}", policy.name());
            let counts = timed(&what, || new().replay(&requests));
            let what = format!("{what}, one by one");
            assert_eq!(counts, timed(&what, || new().visit(OneByOne(&requests))));
        }
        let what = format!("{} {}, 30 % writes", policy.name(), SIZES[1]);
        timed(&what, || Replacing::new(&policy, SIZES[1]).replay(&written));
    }
}
