//! Sizes of generated requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Rng;

use super::{fault, whole_sectors};
use crate::WorkloadError;

/// One size, or several sizes with weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a number of bytes, or a list of { bytes, weight }"
)]
pub enum Sizes {
    /// Size of all requests. Bytes.
    One(#[schemars(range(min = 512, max = 1_000_000_000_000_000_000_u64))] u64),
    /// Sizes drawn in proportion to their weights.
    Mix(Vec<Share>),
}

/// Size with its weight.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// Size; a multiple of 512. Bytes.
    #[schemars(range(min = 512, max = 1_000_000_000_000_000_000_u64))]
    pub bytes: u64,
    /// Weight of the size, relative to the others.
    #[schemars(range(max = 1e12), extend("exclusiveMinimum" = 0.0))]
    pub weight: f64,
}

impl Sizes {
    /// Returns the largest size. Bytes.
    pub fn largest(&self) -> u64 {
        match self {
            Self::One(bytes) => *bytes,
            Self::Mix(shares) => shares.iter().map(|share| share.bytes).max().unwrap_or(0),
        }
    }
}

/// Sampler of sizes in proportion to their weights.
#[derive(Clone, Debug)]
pub(super) struct Mix {
    /// Last size, and the sum of all weights.
    last: (u64, f64),
    /// Sizes before the last, with their cumulative weights.
    steps: Vec<(u64, f64)>,
}

impl Mix {
    /// Creates the distribution of `sizes`. Errors name them by `key`, relative to `[workload]`.
    pub(super) fn new(key: &str, sizes: &Sizes) -> Result<Self, WorkloadError> {
        let shares = match sizes {
            Sizes::One(bytes) => vec![Share {
                bytes: *bytes,
                weight: 1.0,
            }],
            Sizes::Mix(shares) => shares.clone(),
        };
        let mut steps = Vec::new();
        let mut sum = 0.0;
        for Share { bytes, weight } in shares {
            whole_sectors(key, bytes)?;
            sum += weight;
            steps.push((bytes, sum));
        }
        match steps.pop() {
            Some(last) => Ok(Self { last, steps }),
            None => fault(key, "the list of sizes is empty", "give at least one size"),
        }
    }

    pub(super) fn next(&self, random: &mut Rng) -> u64 {
        let (last, sum) = self.last;
        if self.steps.is_empty() {
            return last;
        }
        let at = random.unit() * sum;
        self.steps
            .iter()
            .find(|(_, step)| at < *step)
            .map_or(last, |(bytes, _)| *bytes)
    }
}
