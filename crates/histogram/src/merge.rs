//! Merging of observations, such as those of two intervals.

use wordline_kernel::Time;

/// Observations of an interval that can be merged with those of another.
pub trait Merge {
    /// Adds `other` to `self`. Merging a default value changes nothing.
    fn merge(&mut self, other: &Self);
}

impl Merge for u64 {
    #[inline]
    fn merge(&mut self, other: &Self) {
        *self += other;
    }
}

impl Merge for Time {
    #[inline]
    fn merge(&mut self, other: &Self) {
        *self += *other;
    }
}

/// Merges element by element.
impl<T: Merge, const N: usize> Merge for [T; N] {
    #[inline]
    fn merge(&mut self, other: &Self) {
        for (own, other) in self.iter_mut().zip(other) {
            own.merge(other);
        }
    }
}
