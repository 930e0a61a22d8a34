//! Sums of latency components.

use serde::{Deserialize, Serialize};
use wordline_block::{LATENCY_COMPONENTS, LatencyComponents};
use wordline_kernel::Time;

/// Sums of latency components, in picoseconds.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct ComponentSums {
    /// Number of requests.
    pub count: u64,
    /// Recent sums, which fit 64 bits, and their total; earlier sums are in `before`.
    pub(super) recent: LatencyComponents,
    pub(super) all_recent: u64,
    pub(super) before: [u128; LATENCY_COMPONENTS],
}

impl ComponentSums {
    /// Adds the latency components of a request, which add up to `latency`.
    #[inline(always)]
    pub(super) fn add(&mut self, parts: &LatencyComponents, latency: Time) {
        self.count += 1;
        if self.all_recent.checked_add(latency.0).is_none() {
            self.begin_again();
        }
        self.all_recent += latency.0;
        self.recent.add(parts);
    }
    #[cold]
    pub(super) fn begin_again(&mut self) {
        self.before = self.sums();
        self.recent = LatencyComponents::default();
        self.all_recent = 0;
    }
    /// Returns the sums in the order of [`LatencyComponent::ALL`].
    pub fn sums(&self) -> [u128; LATENCY_COMPONENTS] {
        let recent = self.recent.in_order();
        std::array::from_fn(|part| self.before[part] + u128::from(recent[part].0))
    }
    /// Returns the counts and sums of `self` and `other` together.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let (own, others) = (self.sums(), other.sums());
        Self {
            count: self.count + other.count,
            before: std::array::from_fn(|part| own[part] + others[part]),
            ..Self::default()
        }
    }
    /// Returns the mean of each component, in microseconds; 0 without requests.
    pub fn means_us(&self) -> [f64; LATENCY_COMPONENTS] {
        self.sums()
            .map(|sum| sum as f64 / self.count.max(1) as f64 / 1e6)
    }
}
