//! How far estimates are from the exact curve.

use std::fmt;
use std::num::NonZeroU32;

use super::{Aet, AetRate, Curve, Rate, ShardsRate, ShardsSize};
use wordline_cache::Requests;

/// A way to estimate a curve.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Method {
    /// SHARDS at a fixed rate.
    ShardsRate(Rate),
    /// SHARDS with a fixed number of keys.
    ShardsSize(NonZeroU32),
    /// AET over every request; does not depend on the seed.
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
    /// The estimate from a whole trace. The numbers of the keys stand for them.
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

/// A mean and half of its 95 % confidence interval.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Interval {
    /// The mean of the samples.
    pub mean: f64,
    /// The true mean lies within this of `mean` with 95 % confidence; infinite with fewer than two
    /// samples.
    pub half_width: f64,
}

impl Interval {
    /// By Student's t distribution, the samples being independent.
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

/// The 97.5 % point of Student's t distribution: the tabulated values, and beyond 30 degrees of
/// freedom the expansion of Fisher and Cornish, good to 1e-4 there.
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

/// What a method makes of a trace, over independent hashes.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Accuracy {
    /// The method.
    pub method: Method,
    /// The mean absolute error of the miss ratio over the sizes ([`Curve::difference`]).
    pub error: Interval,
    /// The mean error with its sign: above zero where the method promises more misses than there
    /// are.
    pub bias: Interval,
    /// The largest error at any size and with any hash.
    pub largest: f64,
}

/// The errors of a method against the exact curve of the same trace, with the hashes of seeds 0 to
/// `hashes - 1`.
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
