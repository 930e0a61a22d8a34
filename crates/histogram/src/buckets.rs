//! Counts of spans in logarithmic buckets.

use std::ops::RangeInclusive;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Number of bits after the leading one that select a bucket. 2^10 buckets per power of two give
/// three significant decimal digits.
pub(crate) const BUCKET_BITS: u32 = 10;
/// Buckets per power of two.
const EACH: usize = 1 << BUCKET_BITS;

/// Number of spans in each bucket. Each span below 2^11 has its own bucket; every higher power of
/// two has 2^10 buckets. These are the buckets of an HDR histogram with three significant digits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Buckets {
    /// Count of each bucket, up to the highest power of two recorded.
    counts: Vec<u64>,
}

impl Buckets {
    /// Counts a span.
    #[inline]
    pub fn record(&mut self, span: u64) {
        let place = place(span);
        if place >= self.counts.len() {
            self.grow(place);
        }
        self.counts[place] += 1;
    }
    /// Adds the missing buckets up to the end of the power of two that contains the bucket `place`.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, place: usize) {
        self.counts.resize((place / EACH + 1) * EACH, 0);
    }
    /// Adds all counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
    }
    /// Returns the range of spans and the count of each bucket that is not empty, in ascending
    /// order.
    pub fn recorded(&self) -> impl Iterator<Item = (RangeInclusive<u64>, u64)> + '_ {
        let counts = self.counts.iter().enumerate();
        let held = counts.filter(|(_, count)| **count > 0);
        held.map(|(place, count)| (spans(place), *count))
    }
    /// Returns the range of the bucket that contains the span with a rank, or `None` if there are
    /// fewer spans. The shortest span has rank 1.
    pub fn at_rank(&self, rank: u64) -> Option<RangeInclusive<u64>> {
        let mut below = 0;
        let reaches = |count: &u64| {
            below += count;
            below >= rank
        };
        self.counts.iter().position(reaches).map(spans)
    }
}

/// Returns the index of the bucket of a span.
#[inline]
const fn place(span: u64) -> usize {
    let shift = (span | EACH as u64).ilog2() - BUCKET_BITS;
    ((shift as usize) << BUCKET_BITS) + (span >> shift) as usize
}

/// Returns the range of spans of the bucket with an index.
const fn spans(place: usize) -> RangeInclusive<u64> {
    let shift = (place / EACH).saturating_sub(1);
    let first = ((place - shift * EACH) as u64) << shift;
    first..=first + ((1 << shift) - 1)
}

/// The serialised form lists the buckets that are not empty: the lowest span and the count of each.
impl Serialize for Buckets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let held = self
            .recorded()
            .map(|(spans, count)| (*spans.start(), count));
        held.collect::<Vec<(u64, u64)>>().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Buckets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut buckets = Self::default();
        for (span, count) in Vec::<(u64, u64)>::deserialize(deserializer)? {
            let place = place(span);
            if place >= buckets.counts.len() {
                buckets.grow(place);
            }
            buckets.counts[place] = buckets.counts[place].saturating_add(count);
        }
        Ok(buckets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn buckets_are_those_of_an_hdr_histogram(
            spans in prop::collection::vec(
                (0_u32..64, any::<u64>()).prop_map(|(shift, bits)| bits >> shift),
                1..300,
            ),
            q in 0.0_f64..=1.0,
        ) {
            let mut hdr = hdrhistogram::Histogram::<u64>::new(3).unwrap();
            let mut buckets = Buckets::default();
            for &span in &spans {
                hdr.record(span).unwrap();
                buckets.record(span);
            }
            let expected: Vec<(u64, u64)> = hdr
                .iter_recorded()
                .map(|held| (hdr.lowest_equivalent(held.value_iterated_to()), held.count_at_value()))
                .collect();
            let found: Vec<(u64, u64)> = buckets
                .recorded()
                .map(|(spans, count)| (*spans.start(), count))
                .collect();
            prop_assert_eq!(found, expected);
            let rank = ((q * spans.len() as f64).ceil() as u64).max(1);
            let at = buckets.at_rank(rank).unwrap();
            prop_assert!(at.contains(&hdr.value_at_quantile(q)));
            prop_assert!(hdr.equivalent(*at.start(), *at.end()));
        }
    }

    #[test]
    fn every_span_is_in_its_bucket_and_buckets_are_adjacent() {
        let (mut next, last) = (0, place(u64::MAX));
        for bucket in 0..last {
            assert_eq!(*spans(bucket).start(), next, "bucket {bucket}");
            for span in [*spans(bucket).start(), *spans(bucket).end()] {
                assert_eq!(place(span), bucket);
            }
            next = spans(bucket).end() + 1;
        }
        assert_eq!(*spans(last).end(), u64::MAX);
    }
}
