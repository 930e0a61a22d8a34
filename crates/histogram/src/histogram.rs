//! Distribution of spans of time.

use std::ops::RangeInclusive;

use crate::buckets::{BUCKET_BITS, Buckets};
use crate::{Merge, Tally};
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

/// Maximum number of points of a distribution function.
const CDF_POINTS: usize = 500;

/// Distribution of spans of time, recorded in picoseconds.
///
/// Count, mean, standard deviation, minimum and maximum are exact; percentiles are at most 0.1 %
/// above the true order statistic (buckets of three decimal digits). Every value of [`Time`] can be
/// recorded. Memory grows with the longest span, to at most 0.5 MB.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Histogram {
    buckets: Buckets,
    tally: Tally,
    squares: Squares,
}

/// Point of a cumulative distribution function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Upper limit of the spans that the point includes.
    pub at: Time,
    /// Fraction of all spans not longer than `at`.
    pub fraction: f64,
    /// Number of spans longer than the previous point and not longer than this one.
    pub count: u64,
}

impl Histogram {
    /// Records a span.
    #[inline]
    pub fn record(&mut self, span: Time) {
        let ps = span.ps();
        self.buckets.record(ps);
        self.tally.record(span);
        self.squares.add(u128::from(ps) * u128::from(ps));
    }

    /// Adds all spans of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.buckets.merge(&other.buckets);
        self.tally.merge(&other.tally);
        self.squares.merge(other.squares);
    }

    /// Returns the number of spans.
    pub const fn count(&self) -> u64 {
        self.tally.count()
    }
    /// Returns the exact sum of the spans in picoseconds.
    pub const fn sum_ps(&self) -> u128 {
        self.tally.sum_ps()
    }
    /// Returns the mean in microseconds; `None` without spans.
    pub fn mean_us(&self) -> Option<f64> {
        self.tally.mean_us()
    }
    /// Returns the exact minimum; `None` without spans.
    pub fn min(&self) -> Option<Time> {
        self.tally.min()
    }
    /// Returns the exact maximum; `None` without spans.
    pub fn max(&self) -> Option<Time> {
        self.tally.max()
    }

    /// Returns the population standard deviation (the variance is divided by the count) in
    /// microseconds; `None` without spans. The squared distances are summed as integers, so no
    /// digits cancel even if the spread is small.
    pub fn std_us(&self) -> Option<f64> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        let mean = (self.sum_ps() / u128::from(count)) as u64;
        let rest = (self.sum_ps() % u128::from(count)) as u64;
        let offset = rest as f64 / count as f64;
        let around = self.squares.around(count, mean, rest);
        let variance = around / count as f64 - offset * offset;
        Some(variance.max(0.0).sqrt() / 1e6)
    }

    /// Returns the nearest-rank percentile: the shortest span that at least a fraction `q` (0 to 1)
    /// of all spans do not exceed. It is at most 0.1 % too high, and never outside the exact
    /// extremes. `None` without spans.
    pub fn percentile(&self, q: f64) -> Option<Time> {
        let rank = (q.min(1.0) * self.count() as f64).ceil() as u64;
        let spans = self.buckets.at_rank(rank.max(1))?;
        Some(self.upper(&spans))
    }

    /// Returns the cumulative distribution function as at most 500 points, spaced logarithmically
    /// and no closer than the buckets. The last point is (max, 1). Without spans there are no
    /// points.
    pub fn cdf(&self) -> Vec<Point> {
        let buckets: Vec<(RangeInclusive<u64>, u64)> = self.buckets.recorded().collect();
        let bits = finest_bits(&buckets);
        let mut below = 0;
        buckets
            .chunk_by(|a, b| cell(&a.0, bits) == cell(&b.0, bits))
            .map(|group| {
                let count = group.iter().map(|bucket| bucket.1).sum::<u64>();
                below += count;
                let at = group.last().map(|bucket| self.upper(&bucket.0));
                Point {
                    at: at.unwrap_or_default(),
                    fraction: below as f64 / self.count() as f64,
                    count,
                }
            })
            .collect()
    }

    /// Returns a histogram with 16 buckets per power of two. Each item is the upper end of a bucket
    /// that is not empty, in microseconds, and its count. The ends are numbers with 5 significant
    /// binary digits, among them all powers of two.
    pub fn coarse(&self) -> Vec<(f64, u64)> {
        let mut coarse: Vec<(f64, u64)> = Vec::new();
        for (spans, held) in self.buckets.recorded() {
            let end = rounded_up(self.upper(&spans).as_us());
            match coarse.last_mut() {
                Some((last, count)) if *last == end => *count += held,
                _ => coarse.push((end, held)),
            }
        }
        coarse
    }

    /// Returns an upper bound of the spans in a bucket: the exact maximum of all spans if it is in
    /// the bucket, and the end of the bucket otherwise.
    fn upper(&self, spans: &RangeInclusive<u64>) -> Time {
        match self.max() {
            Some(max) if spans.contains(&max.ps()) => max,
            _ => Time(*spans.end()),
        }
    }
}

/// Rounds a number that is not negative up to 5 significant binary digits.
fn rounded_up(number: f64) -> f64 {
    const REST: u64 = (1 << 48) - 1;
    f64::from_bits((number.to_bits() + REST) & !REST)
}

/// Returns the maximum number of bits after the leading one for which the buckets fall into at most
/// [`CDF_POINTS`] cells.
fn finest_bits(buckets: &[(RangeInclusive<u64>, u64)]) -> u32 {
    let cells = |bits| {
        buckets
            .chunk_by(|a, b| cell(&a.0, bits) == cell(&b.0, bits))
            .count()
    };
    (0..=BUCKET_BITS)
        .rev()
        .find(|&bits| cells(bits) <= CDF_POINTS)
        .unwrap_or(0)
}

/// Returns the logarithmic cell of a bucket: the power of two of its spans and the `bits` after the
/// leading one.
fn cell(spans: &RangeInclusive<u64>, bits: u32) -> (u32, u64) {
    let value = *spans.end();
    let power = value.checked_ilog2().unwrap_or(0);
    (power, value >> power.saturating_sub(bits))
}

/// Sum of squares in 192 bits, which 2^64 squares of 64-bit spans do not overflow.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Squares {
    low: u128,
    high: u64,
}

impl Squares {
    #[inline]
    fn add(&mut self, square: u128) {
        let (low, carry) = self.low.overflowing_add(square);
        self.low = low;
        self.high += u64::from(carry);
    }

    fn merge(&mut self, other: Self) {
        self.add(other.low);
        self.high += other.high;
    }

    /// Returns the sum of squared distances from `mean`, where sum = count * mean + rest. The
    /// result is squares - count * mean^2 - 2 * mean * rest. It is between 0 and 2^192, so
    /// arithmetic modulo 2^192 is exact; only the conversion to `f64` rounds.
    fn around(mut self, count: u64, mean: u64, rest: u64) -> f64 {
        let square = u128::from(mean) * u128::from(mean);
        let upper = (square >> 64) * u128::from(count);
        self.subtract(u128::from(square as u64) * u128::from(count));
        self.subtract(upper << 64);
        self.high = self.high.wrapping_sub((upper >> 64) as u64);
        self.subtract(u128::from(mean) * u128::from(rest));
        self.subtract(u128::from(mean) * u128::from(rest));
        self.high as f64 * 2f64.powi(128) + self.low as f64
    }

    fn subtract(&mut self, part: u128) {
        let (low, borrow) = self.low.overflowing_sub(part);
        self.low = low;
        self.high = self.high.wrapping_sub(u64::from(borrow));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(spans: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        for &ps in spans {
            histogram.record(Time(ps));
        }
        histogram
    }

    /// Generates spans of all magnitudes, like latencies.
    fn spans() -> impl Strategy<Value = Vec<u64>> {
        let span = (0_u32..64, any::<u64>()).prop_map(|(shift, bits)| bits >> shift);
        prop::collection::vec(span, 1..400)
    }

    /// Returns mean and standard deviation in microseconds, computed in two passes.
    fn two_passes(spans: &[u64]) -> (f64, f64) {
        let n = spans.len() as f64;
        let mean = spans.iter().map(|&ps| ps as f64).sum::<f64>() / n;
        let variance = spans
            .iter()
            .map(|&ps| (ps as f64 - mean).powi(2))
            .sum::<f64>()
            / n;
        (mean / 1e6, variance.sqrt() / 1e6)
    }

    fn close(a: f64, b: f64, relative: f64) -> bool {
        (a - b).abs() <= relative * a.abs().max(b.abs()) + 1e-12
    }

    proptest! {
        #[test]
        fn percentiles_match_the_sorted_spans(spans in spans(), q in 0.0_f64..=1.0) {
            let histogram = of(&spans);
            let mut sorted = spans;
            sorted.sort_unstable();
            let rank: usize = ((q * sorted.len() as f64).ceil() as usize).max(1);
            let exact = sorted[rank - 1];
            let given = histogram.percentile(q).unwrap().ps();
            prop_assert!(given >= exact && (given - exact) as f64 <= exact as f64 * 0.001);
            prop_assert!(given <= *sorted.last().unwrap());
        }

        #[test]
        fn mean_and_deviation_match_two_passes(spans in spans()) {
            let histogram = of(&spans);
            let (mean, std) = two_passes(&spans);
            prop_assert_eq!(histogram.sum_ps(), spans.iter().map(|&s| u128::from(s)).sum::<u128>());
            prop_assert!(close(histogram.mean_us().unwrap(), mean, 1e-12));
            prop_assert!(close(histogram.std_us().unwrap(), std, 1e-9));
            prop_assert_eq!(histogram.min().unwrap().ps(), *spans.iter().min().unwrap());
            prop_assert_eq!(histogram.max().unwrap().ps(), *spans.iter().max().unwrap());
        }

        #[test]
        fn merging_equals_recording_together(left in spans(), right in spans()) {
            let mut merged = of(&left);
            merged.merge(&of(&right));
            let together = of(&[left, right].concat());
            prop_assert_eq!(merged.cdf(), together.cdf());
            prop_assert_eq!(merged.std_us(), together.std_us());
            prop_assert_eq!(merged.sum_ps(), together.sum_ps());
        }

        #[test]
        fn coarse_buckets_end_at_most_a_sixteenth_above_their_spans(spans in spans()) {
            let coarse = of(&spans).coarse();
            prop_assert!(coarse.windows(2).all(|pair| pair[0].0 < pair[1].0));
            let mut sorted = spans;
            sorted.sort_unstable();
            let mut rank = 0;
            for (end, count) in coarse {
                for &ps in &sorted[rank..rank + count as usize] {
                    let us = ps as f64 / 1e6;
                    prop_assert!(us <= end && end <= us * 1.001 * (17.0 / 16.0));
                }
                rank += count as usize;
            }
            prop_assert_eq!(rank, sorted.len());
        }

        #[test]
        fn distribution_counts_every_span_once(spans in spans()) {
            let cdf = of(&spans).cdf();
            prop_assert!(cdf.len() <= CDF_POINTS);
            prop_assert!(cdf.windows(2).all(|p| p[0].at < p[1].at && p[0].fraction < p[1].fraction));
            prop_assert_eq!(cdf.iter().map(|p| p.count).sum::<u64>(), spans.len() as u64);
            let last = cdf.last().unwrap();
            prop_assert_eq!((last.at.ps(), last.fraction), (*spans.iter().max().unwrap(), 1.0));
            for point in cdf {
                let below = spans.iter().filter(|&&s| s <= point.at.ps()).count();
                prop_assert_eq!(point.fraction, below as f64 / spans.len() as f64);
            }
        }
    }

    #[test]
    fn deviation_of_long_spans_with_a_tiny_spread_is_exact() {
        let day = 86_400_000_000_000_000;
        let std = of(&[day, day + 2]).std_us().unwrap();
        assert_eq!(std, 1e-6);
        assert_eq!(of(&[day; 3]).std_us(), Some(0.0));
    }

    #[test]
    fn spans_of_the_whole_clock_are_recorded_without_overflow() {
        let histogram = of(&[u64::MAX, u64::MAX, u64::MAX, 0]);
        let end = u64::MAX as f64 / 1e6;
        assert!(close(histogram.mean_us().unwrap(), end * 0.75, 1e-12));
        assert!(close(
            histogram.std_us().unwrap(),
            end * (3.0_f64 / 16.0).sqrt(),
            1e-12
        ));
        assert_eq!(histogram.percentile(1.0), Some(Time::MAX));
        assert_eq!(histogram.percentile(0.0), Some(Time::ZERO));
    }

    #[test]
    fn wide_distribution_stays_within_the_point_limit() {
        let spans: Vec<u64> = (0..60_000_u64).map(|i| 1_000 + i * i * 17).collect();
        let cdf = of(&spans).cdf();
        assert!(
            cdf.len() > CDF_POINTS / 3 && cdf.len() <= CDF_POINTS,
            "{} points",
            cdf.len()
        );
    }

    #[test]
    fn empty_histogram_has_no_statistics() {
        let empty = Histogram::default();
        assert_eq!((empty.count(), empty.percentile(0.5)), (0, None));
        assert_eq!((empty.mean_us(), empty.std_us()), (None, None));
        assert_eq!(empty.cdf(), []);
    }
}
