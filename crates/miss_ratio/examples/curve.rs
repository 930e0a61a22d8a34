//! Measures the CPU time of miss-ratio curves, including reading the file of keys, and the errors
//! of the estimates.
//!
//! `curve [FILE]`: FILE contains keys as 64-bit little-endian numbers, or as 32-bit ones if its
//! name contains `32le`. Without FILE, the example writes 10,000,000 requests for 1,000,000 keys to
//! the directory of temporary files and reads them. Key i has a probability proportional to 1/i.
#![allow(clippy::print_stdout)]

#[path = "../../cache/tests/it/zipf.rs"]
mod zipf;

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use cpu_time::ProcessTime;
use wordline_cache::Requests;
use wordline_cache::trace::Width;
use wordline_miss_ratio::{
    Aet, AetRate, Axis, Curve, Exact, Method, Rate, ShardsRate, ShardsSize, accuracy,
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const RUNS: usize = 5;

fn main() -> Result<()> {
    let path = match std::env::args_os().nth(1) {
        Some(path) => PathBuf::from(path),
        None => zipf_file()?,
    };
    let rate = Rate::new(0.01)?;
    let keys = NonZeroU32::new(8192).ok_or("no keys")?;
    time("reading only", || {
        let mut sum = 0_u64;
        read(&path, |keys| {
            sum = keys.iter().copied().fold(sum, u64::wrapping_add);
        })?;
        Ok(sum)
    })?;
    let requests = time("reading, numbering", || numbered(&path))?;
    let exact = time("reading, numbering, exact curve", || {
        Ok(Exact::of(&numbered(&path)?))
    })?;
    time("exact curve, without reading", || Ok(Exact::of(&requests)))?;
    time("AET alone", || Ok(Aet::of(&requests)))?;
    time("reading, SHARDS at 0.01", || {
        let mut shards = ShardsRate::new(rate, 1);
        read(&path, |keys| shards.extend(keys.iter().copied()))?;
        Ok(shards.curve())
    })?;
    time("reading, SHARDS of 8192 keys", || {
        let mut shards = ShardsSize::new(keys, 1);
        read(&path, |keys| shards.extend(keys.iter().copied()))?;
        Ok(shards.curve())
    })?;
    time("reading, AET at 0.01", || {
        let mut aet = AetRate::new(rate, 1);
        read(&path, |keys| aet.extend(keys.iter().copied()))?;
        Ok(aet.curve())
    })?;
    for axis in [Axis::Linear, Axis::Logarithmic] {
        let points = time("points to plot within 0.001", || {
            Ok(exact.points(0.001, axis))
        })?;
        println!("{axis:?}: {} points", points.len());
    }
    errors(&requests, &exact)
}

fn errors(requests: &Requests, exact: &Curve) -> Result<()> {
    println!(
        "{} requests, {} keys; mean absolute error, bias, largest error over 20 hashes",
        requests.len(),
        requests.footprint()
    );
    let keys = |count| NonZeroU32::new(count).ok_or("no keys");
    for method in [
        Method::ShardsRate(Rate::new(0.01)?),
        Method::ShardsRate(Rate::new(0.001)?),
        Method::ShardsSize(keys(8 << 10)?),
        Method::ShardsSize(keys(32 << 10)?),
        Method::Aet,
        Method::AetRate(Rate::new(0.01)?),
    ] {
        let found = accuracy(requests, exact, method, 20);
        let (error, bias) = (found.error, found.bias);
        println!(
            "{:>20}: {:.5} +- {:.5}  {:+.5} +- {:.5}  {:.4}",
            method.to_string(),
            error.mean,
            error.half_width,
            bias.mean,
            bias.half_width,
            found.largest
        );
    }
    Ok(())
}

/// Runs a function several times and prints the lowest CPU time and the lowest elapsed time, in
/// seconds. Returns the last result.
fn time<T>(what: &str, run: impl Fn() -> Result<T>) -> Result<T> {
    let mut least = f64::INFINITY;
    let mut wall = f64::INFINITY;
    let mut made = None;
    for _ in 0..RUNS {
        let (start, clock) = (ProcessTime::now(), std::time::Instant::now());
        made = Some(run()?);
        least = least.min(start.elapsed().as_secs_f64());
        wall = wall.min(clock.elapsed().as_secs_f64());
    }
    println!("{least:8.3} s CPU time, {wall:.3} s in total: {what}");
    made.ok_or_else(|| "no run".into())
}

fn width(path: &Path) -> Width {
    if path.to_string_lossy().contains("32le") {
        Width::Four
    } else {
        Width::Eight
    }
}

fn numbered(path: &Path) -> Result<Requests> {
    Ok(Requests::read(File::open(path)?, width(path))?)
}

/// Calls `each` with the keys of a file, in chunks.
fn read(path: &Path, mut each: impl FnMut(&[u64])) -> Result<()> {
    let mut file = File::open(path)?;
    let mut bytes = vec![0; 1 << 17];
    loop {
        let filled = fill(&mut file, &mut bytes)?;
        let keys: Vec<u64> = match width(path) {
            Width::Four => {
                let (keys, _) = bytes[..filled].as_chunks();
                keys.iter()
                    .map(|&key| u32::from_le_bytes(key).into())
                    .collect()
            }
            Width::Eight => {
                let (keys, _) = bytes[..filled].as_chunks();
                keys.iter().map(|&key| u64::from_le_bytes(key)).collect()
            }
        };
        each(&keys);
        if filled < bytes.len() {
            return Ok(());
        }
    }
}

/// Fills `bytes` from the file. Returns the number of bytes read, which is less than the length of
/// `bytes` only at the end of the file.
fn fill(file: &mut File, bytes: &mut [u8]) -> Result<usize> {
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read(&mut bytes[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}

fn zipf_file() -> Result<PathBuf> {
    let path = std::env::temp_dir().join("wordline-zipf.64le");
    if !path.exists() {
        let bytes = zipf::keys(10_000_000)
            .into_iter()
            .flat_map(u64::to_le_bytes);
        File::create(&path)?.write_all(&bytes.collect::<Vec<u8>>())?;
    }
    Ok(path)
}
