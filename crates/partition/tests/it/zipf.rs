//! Draws of ranks from Zipf's law.
#![allow(dead_code)] // each test uses a part of it

use wordline_kernel::Rng;

/// Draws a rank from 1 as `numpy.random.zipf` does: by rejection from a dominating distribution
/// (Devroye, "Non-Uniform Random Variate Generation", 1986, page 551).
pub fn numpy(random: &mut Rng, exponent: f64) -> f64 {
    let less = exponent - 1.0;
    let b = 2.0_f64.powf(less);
    loop {
        let (u, v) = (1.0 - random.unit(), random.unit());
        let x = u.powf(-1.0 / less).floor();
        if !(1.0..=2.0_f64.powi(62)).contains(&x) {
            continue;
        }
        let t = (1.0 + 1.0 / x).powf(less);
        if v * x * (t - 1.0) / (b - 1.0) <= t / b {
            return x;
        }
    }
}

/// Returns the cumulative share of draws at each rank from 0 to `most`. Ranks start at 1, so the
/// first share is 0.
pub fn shares(exponent: f64, most: u32) -> Vec<f64> {
    let mut sum = 0.0;
    let mut sums = vec![0.0];
    for rank in 1..=most {
        sum += f64::from(rank).powf(-exponent);
        sums.push(sum);
    }
    sums.iter().map(|below| below / sum).collect()
}

/// Zipf-distributed ranks from 0 to below `count`, with any exponent.
pub struct Zipf {
    shares: Vec<f64>,
}

impl Zipf {
    pub fn new(exponent: f64, count: u32) -> Self {
        Self {
            shares: shares(exponent, count),
        }
    }
    pub fn draw(&self, random: &mut Rng) -> u64 {
        let unit = random.unit();
        self.shares.partition_point(|&below| below <= unit) as u64 - 1
    }
}
