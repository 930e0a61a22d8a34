//! Accuracy of estimated curves, relative to the exact curve.

use std::fmt;
use std::num::NonZeroU32;

use super::{Aet, AetRate, Curve, Rate, ShardsRate, ShardsSize};
use wordline_cache::Requests;

/// Method that estimates a curve.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Method {
    /// SHARDS at a fixed sampling rate.
    ShardsRate(Rate),
    /// SHARDS with a fixed number of keys.
    ShardsSize(NonZeroU32),
    /// AET over every request. The result does not depend on the seed.
    Aet,
    /// AET over a share of the keys.
    AetRate(Rate),
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ShardsRate(rate) => write!(f, "SHARDS, rate {}", rate.get()),
            Self::ShardsSize(keys) => write!(f, "SHARDS, {keys} keys"),
            Self::Aet => write!(f, "AET"),
            Self::AetRate(rate) => write!(f, "AET, rate {}", rate.get()),
        }
    }
}

impl Method {
    /// Estimates the curve of a whole trace. `seed` selects the sampled keys.
    pub fn curve(self, requests: &Requests, seed: u64) -> Curve {
        let keys = || requests.numbers().iter().copied().map(u64::from);
        match self {
            Self::ShardsRate(rate) => {
                let mut shards = ShardsRate::new(rate, seed);
                shards.extend(keys());
                shards.curve()
            }
            Self::ShardsSize(room) => {
                let mut shards = ShardsSize::new(room, seed);
                shards.extend(keys());
                shards.curve()
            }
            Self::Aet => Aet::of(requests),
            Self::AetRate(rate) => {
                let mut aet = AetRate::new(rate, seed);
                aet.extend(keys());
                aet.curve()
            }
        }
    }
}

/// Mean and the half-width of its 95 % confidence interval.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Interval {
    /// Mean of the samples.
    pub mean: f64,
    /// Half-width of the interval that contains the true mean with 95 % confidence. Infinite with
    /// fewer than two samples.
    pub half_width: f64,
}

impl Interval {
    /// Computes the interval from independent samples, with Student's t distribution.
    pub fn of(samples: &[f64]) -> Self {
        let count = samples.len() as f64;
        let mean = samples.iter().sum::<f64>() / count.max(1.0);
        let squares: f64 = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
        let half_width = match samples.len() {
            0 | 1 => f64::INFINITY,
            _ => student(samples.len() - 1) * (squares / (count - 1.0) / count).sqrt(),
        };
        Self { mean, half_width }
    }
}

/// Returns the 97.5 % point of Student's t distribution. Up to 30 degrees of freedom, the values
/// are tabulated. Above 30, the Cornish-Fisher expansion is accurate to 1e-4.
fn student(freedom: usize) -> f64 {
    const POINTS: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
        2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
        2.052, 2.048, 2.045, 2.042,
    ];
    const NORMAL: f64 = 1.959_964;
    let tabulated = freedom.checked_sub(1).and_then(|index| POINTS.get(index));
    let n = freedom as f64;
    let (third, fifth) = (NORMAL.powi(3), NORMAL.powi(5));
    let first = (third + NORMAL) / (4.0 * n);
    let second = (5.0 * fifth + 16.0 * third + 3.0 * NORMAL) / (96.0 * n * n);
    tabulated.copied().unwrap_or(NORMAL + first + second)
}

/// Accuracy of a method on a trace, over independent hash functions.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Accuracy {
    /// Method that was measured.
    pub method: Method,
    /// Mean absolute error of the miss ratio over all sizes ([`Curve::difference`]).
    pub error: Interval,
    /// Mean signed error. Positive if the method overestimates misses.
    pub bias: Interval,
    /// Largest absolute error at any size and with any hash.
    pub largest: f64,
}

/// Compares a method with the exact curve of the same trace, once with each seed below `hashes`.
pub fn accuracy(requests: &Requests, exact: &Curve, method: Method, hashes: u32) -> Accuracy {
    let found: Vec<_> = (0..u64::from(hashes))
        .map(|seed| exact.difference(&method.curve(requests, seed)))
        .collect();
    let of = |field: fn(&super::Difference) -> f64| found.iter().map(field).collect::<Vec<_>>();
    Accuracy {
        method,
        error: Interval::of(&of(|difference| difference.mean)),
        bias: Interval::of(&of(|difference| difference.signed)),
        largest: of(|difference| difference.largest)
            .into_iter()
            .fold(0.0, f64::max),
    }
}
