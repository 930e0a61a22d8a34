//! Count, sum and extremes of spans.

use crate::Merge;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

/// Count, exact sum and extremes of spans of time, as kept per interval of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    count: u64,
    sum: u128,
    min: Time,
    max: Time,
}

impl Default for Tally {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Tally {
    /// Tally without spans.
    pub const EMPTY: Self = Self {
        count: 0,
        sum: 0,
        min: Time::MAX,
        max: Time::ZERO,
    };
    /// Records a span.
    #[inline]
    pub fn record(&mut self, span: Time) {
        self.count += 1;
        self.sum += u128::from(span.ps());
        self.min = self.min.min(span);
        self.max = self.max.max(span);
    }
    /// Returns the number of spans.
    pub const fn count(&self) -> u64 {
        self.count
    }
    /// Returns the exact sum in picoseconds.
    pub const fn sum_ps(&self) -> u128 {
        self.sum
    }
    /// Returns the mean in microseconds; `None` without spans.
    pub fn mean_us(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64 / 1e6)
    }
    /// Returns the exact minimum; `None` without spans.
    pub fn min(&self) -> Option<Time> {
        (self.count > 0).then_some(self.min)
    }
    /// Returns the exact maximum; `None` without spans.
    pub fn max(&self) -> Option<Time> {
        (self.count > 0).then_some(self.max)
    }
}

impl Merge for Tally {
    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_tally_has_no_mean_and_no_extremes() {
        let tally = Tally::default();
        assert_eq!(
            (tally.mean_us(), tally.min(), tally.max()),
            (None, None, None)
        );
    }

    #[test]
    fn merging_equals_recording_together() {
        let (mut left, mut right, mut both) =
            (Tally::default(), Tally::default(), Tally::default());
        for us in [3, 1] {
            left.record(Time::from_us(us));
            both.record(Time::from_us(us));
        }
        right.record(Time::from_us(8));
        both.record(Time::from_us(8));
        left.merge(&right);
        left.merge(&Tally::default());
        assert_eq!(left, both);
        assert_eq!(both.mean_us(), Some(4.0));
        assert_eq!(both.min(), Some(Time::from_us(1)));
        assert_eq!(both.max(), Some(Time::from_us(8)));
    }
}
