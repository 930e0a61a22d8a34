//! Access pattern by Zipf's law.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Rng;
use wordline_kernel::slot::Cited;

use super::{Places, Space};
use crate::WorkloadError;
use crate::generate::fault;
use crate::generate::scatter::Scatter;

const MAX_PLACES: u64 = 1 << 32;

/// The k-th most popular offset is drawn with a probability exactly proportional to 1/k^theta,
/// without a table. Popular offsets are scattered over the working set by a fixed bijection, or are
/// located at its start in order of popularity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Zipf {
    /// Skew theta: 0 is uniform, 1 is the original form of Zipf's law.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub theta: f64,
    /// Whether popular offsets are scattered over the working set. Otherwise they are at its start.
    pub scatter: bool,
}

impl Default for Zipf {
    fn default() -> Self {
        Self {
            theta: 0.99,
            scatter: true,
        }
    }
}

impl Cited for Zipf {
    const PAPER: &'static str = "Hoermann and Derflinger, Rejection-Inversion to Generate Variates from \
                                 Monotone Discrete Distributions, ACM TOMACS 1996";
}

#[derive(Clone, Debug)]
pub(crate) struct State {
    ranks: Ranks,
    scatter: Option<Scatter>,
}

impl State {
    pub(super) fn new(parameters: &Zipf, space: &Space) -> Result<Self, WorkloadError> {
        let places = space.places;
        if places > MAX_PLACES {
            let reason = format!(
                "a request can start at {places} offsets of the working set, and at most 2^32 are supported"
            );
            let remedy = "raise workload.align_bytes or lower workload.working_set_ratio";
            return fault("pattern.zipf", reason, remedy);
        }
        let scatter = parameters.scatter.then(|| Scatter::new(places));
        Ok(Self {
            ranks: Ranks::new(places, parameters.theta),
            scatter,
        })
    }
}

impl Places for State {
    fn next(&mut self, _: u64, space: &Space, random: &mut Rng) -> u64 {
        let rank = self.ranks.next(random) - 1;
        space.byte(self.scatter.map_or(rank, |scatter| scatter.place(rank)))
    }
}

/// Sampler of ranks 1 to `count` with probability proportional to rank^-theta, by
/// rejection-inversion. A point under the hat `x^-theta` is drawn by inversion of the hat's
/// integral, and accepted if it is under the histogram, as nearly all points are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranks {
    count: f64,
    theta: f64,
    area_first: f64,
    area_all: f64,
    sure: f64,
}

impl Ranks {
    pub(crate) fn new(count: u64, theta: f64) -> Self {
        let count = count as f64;
        let mut ranks = Self {
            count,
            theta,
            area_first: 0.0,
            area_all: 0.0,
            sure: 0.0,
        };
        ranks.area_first = ranks.area(1.5) - 1.0;
        ranks.area_all = ranks.area(count + 0.5);
        ranks.sure = 2.0 - ranks.inverse(ranks.area(2.5) - ranks.hat(2.0));
        ranks
    }

    pub(crate) fn next(&self, random: &mut Rng) -> u64 {
        loop {
            let area = self.area_all + random.unit() * (self.area_first - self.area_all);
            let x = self.inverse(area);
            let rank = libm::floor(x + 0.5).clamp(1.0, self.count);
            if rank - x <= self.sure || area >= self.area(rank + 0.5) - self.hat(rank) {
                return rank as u64;
            }
        }
    }

    /// Returns the hat function at `x`: `x^-theta`.
    fn hat(&self, x: f64) -> f64 {
        libm::exp(-self.theta * libm::log(x))
    }
    /// Returns the integral of the hat from 1 to `x`: `(x^(1-theta) - 1) / (1 - theta)`, or `ln x`.
    fn area(&self, x: f64) -> f64 {
        let log = libm::log(x);
        log * grown((1.0 - self.theta) * log)
    }
    /// Returns the `x` that [`Ranks::area`] maps to `area`.
    fn inverse(&self, area: f64) -> f64 {
        let t = (area * (1.0 - self.theta)).max(-1.0);
        libm::exp(area * shrunk(t))
    }
}

/// Returns `(e^x - 1) / x`, accurate near 0.
fn grown(x: f64) -> f64 {
    if x.abs() > 1e-8 {
        libm::expm1(x) / x
    } else {
        1.0 + x / 2.0
    }
}

/// Returns `ln(1 + x) / x`, accurate near 0.
fn shrunk(x: f64) -> f64 {
    if x.abs() > 1e-8 {
        libm::log1p(x) / x
    } else {
        1.0 - x / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the counts of the first ranks and of all others with the exact probabilities, by a
    /// chi-squared test.
    #[test]
    fn rank_frequencies_follow_zipfs_law() {
        const DRAWS: u32 = 200_000;
        const CELLS: usize = 20;
        for theta in [0.0, 0.5, 0.99, 1.0, 1.5, 3.0] {
            let count = 1000_u64;
            let weights: Vec<f64> = (1..=count).map(|k| (k as f64).powf(-theta)).collect();
            let total: f64 = weights.iter().sum();
            let ranks = Ranks::new(count, theta);
            let mut random = Rng::new(11, "zipf");
            let mut seen = [0_u32; CELLS + 1];
            for _ in 0..DRAWS {
                let rank = ranks.next(&mut random);
                assert!((1..=count).contains(&rank));
                seen[(rank as usize - 1).min(CELLS)] += 1;
            }
            let rest: f64 = weights[CELLS..].iter().sum();
            let cells = weights[..CELLS].iter().copied().chain([rest]);
            let chi: f64 = cells
                .zip(seen)
                .map(|(weight, seen)| {
                    let expected = f64::from(DRAWS) * weight / total;
                    (f64::from(seen) - expected).powi(2) / expected
                })
                .sum();
            assert!(
                chi < 45.3,
                "theta {theta}: {chi} exceeds the 0.1 % point of 20 degrees of freedom"
            );
        }
    }

    #[test]
    fn ranks_stay_in_range_at_extreme_parameters() {
        for (count, theta) in [(1, 1.0), (2, 10.0), (MAX_PLACES, 0.99), (MAX_PLACES, 0.0)] {
            let ranks = Ranks::new(count, theta);
            let mut random = Rng::new(3, "zipf");
            for _ in 0..1000 {
                assert!((1..=count).contains(&ranks.next(&mut random)));
            }
        }
        // Draws are uniform over 2^32: the mean of 10,000 is within 5 standard errors of the
        // middle.
        let ranks = Ranks::new(MAX_PLACES, 0.0);
        let mut random = Rng::new(4, "zipf");
        let mean = (0..10_000)
            .map(|_| ranks.next(&mut random) as f64)
            .sum::<f64>()
            / 1e4;
        let middle = MAX_PLACES as f64 / 2.0;
        assert!((mean - middle).abs() < 5.0 * MAX_PLACES as f64 / 12_f64.sqrt() / 100.0);
    }
}
