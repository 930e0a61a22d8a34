//! Histogram with logarithmic buckets.

use serde::{Deserialize, Serialize};

/// log2 of the minimum ratio between the lowest value of a bucket and its width.
const PRECISION: u32 = 12;
const EXACT: u64 = 1 << (PRECISION + 1);

/// Sum of weights by value. Values below 2^13 are exact; above, there are 4,096 equal buckets
/// between two powers of two.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Buckets(Vec<f64>);

/// Bucket of the values from `low` to `high`, exclusive, and the sum of their weights.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) struct Bucket {
    pub(super) low: u64,
    pub(super) high: u64,
    pub(super) weight: f64,
}

impl Buckets {
    pub(super) fn bytes(&self) -> u64 {
        (self.0.capacity() * size_of::<f64>()) as u64
    }
    #[inline]
    pub(super) fn add(&mut self, value: u64, weight: f64) {
        let index = index(value);
        if index >= self.0.len() {
            self.0.resize(index + 1, 0.0);
        }
        self.0[index] += weight;
    }
    /// Iterates over the non-empty buckets in ascending order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Bucket> {
        let filled = |&(_, &weight): &(usize, &f64)| weight > 0.0;
        let counted = self.0.iter().enumerate().filter(filled);
        counted.map(|(index, &weight)| {
            let (low, high) = range(index as u64);
            Bucket { low, high, weight }
        })
    }
}

#[inline]
fn index(value: u64) -> usize {
    if value < EXACT {
        return value as usize;
    }
    let shift = value.ilog2() - PRECISION;
    ((u64::from(shift) << PRECISION) + (value >> shift)) as usize
}

fn range(index: u64) -> (u64, u64) {
    if index < EXACT {
        return (index, index + 1);
    }
    let shift = (index >> PRECISION) - 1;
    let lead = index - (shift << PRECISION);
    (lead << shift, (lead + 1) << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_contain_their_values_and_leave_no_gap() {
        let mut end = 0;
        for at in 0..index(1 << 40) {
            let (low, high) = range(at as u64);
            assert_eq!(
                low, end,
                "bucket {at} begins at the end of the previous bucket"
            );
            assert_eq!((index(low), index(high - 1)), (at, at));
            assert!(low < EXACT || (high - low) << PRECISION <= low);
            end = high;
        }
    }
}
