//! Counts of values in buckets.

/// Bits of a value that its bucket keeps behind the leading one: 2^10 buckets in each power of two
/// keep three decimal digits.
pub(crate) const BITS: u32 = 10;
/// Smaller values have a bucket each.
const SINGLE: u64 = 2 << BITS;

/// How many values there are in each bucket: at most 54 * 1024 buckets, as many as values need. They
/// are those of an HDR histogram of three digits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Buckets {
    counts: Vec<u64>,
}

impl Buckets {
    /// The bucket of a value; buckets are in the order of the values.
    #[inline]
    fn of(value: u64) -> usize {
        let shift = (value | (SINGLE - 1)).ilog2() - BITS;
        ((shift as usize) << BITS) + (value >> shift) as usize
    }
    /// The greatest value of a bucket.
    fn last(bucket: usize) -> u64 {
        let shift = (bucket >> BITS).saturating_sub(1);
        let first = ((bucket - (shift << BITS)) as u64) << shift;
        first + ((1 << shift) - 1)
    }

    /// Adds a value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let bucket = Self::of(value);
        match self.counts.get_mut(bucket) {
            Some(count) => *count += 1,
            None => self.record_beyond(bucket),
        }
    }
    #[cold]
    #[inline(never)]
    fn record_beyond(&mut self, bucket: usize) {
        self.counts.resize(((bucket >> BITS) + 1) << BITS, 0);
        self.counts[bucket] = 1;
    }
    /// Adds all values of `other`.
    pub fn merge(&mut self, other: &Self) {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (own, other) in self.counts.iter_mut().zip(&other.counts) {
            *own += other;
        }
    }

    /// The buckets that hold any values, in order: the greatest value of each, and how many it holds.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let held = self.counts.iter().enumerate().filter(|held| *held.1 > 0);
        held.map(|(bucket, &count)| (Self::last(bucket), count))
    }
    /// The greatest value in the bucket of the value of a rank, from 1 to as many as there are.
    pub fn ranked(&self, rank: u64) -> Option<u64> {
        let mut below = 0;
        let reaches = |(last, count)| {
            below += count;
            (below >= rank).then_some(last)
        };
        self.iter().find_map(reaches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::Histogram;
    use proptest::prelude::*;

    /// The greatest value in the bucket of a value.
    fn last_like(value: u64) -> u64 {
        Buckets::last(Buckets::of(value))
    }

    /// Values of every magnitude.
    fn values() -> impl Strategy<Value = Vec<u64>> {
        let value = (0_u32..64, any::<u64>()).prop_map(|(shift, bits)| bits >> shift);
        prop::collection::vec(value, 1..400)
    }

    proptest! {
        #[test]
        fn buckets_are_those_of_an_hdr_histogram(values in values(), q in 0.0_f64..=1.0) {
            let (mut own, mut hdr) = (Buckets::default(), Histogram::<u64>::new(3).unwrap());
            for &value in &values {
                own.record(value);
                hdr.record(value).unwrap();
                // Of the last bucket the other one does not tell the last value.
                if value < u64::MAX - (1 << 53) {
                    prop_assert_eq!(last_like(value), hdr.highest_equivalent(value));
                }
            }
            let counts: Vec<u64> = own.iter().map(|held| held.1).collect();
            let expected: Vec<u64> = hdr.iter_recorded().map(|held| held.count_at_value()).collect();
            prop_assert_eq!(counts, expected);
            let rank = ((q * values.len() as f64).ceil() as u64).max(1);
            let (ranked, expected) = (own.ranked(rank).unwrap(), hdr.value_at_quantile(q));
            prop_assert!(hdr.equivalent(ranked, expected));
        }
    }

    #[test]
    fn the_last_bucket_ends_with_the_greatest_value() {
        assert_eq!(last_like(u64::MAX), u64::MAX);
        assert_eq!([0, 2047, 2048, 2049].map(last_like), [0, 2047, 2049, 2049]);
    }
}
