//! Sums of observations.

use wordline_kernel::Time;

/// Merges the observations of two intervals.
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

/// Element by element.
impl<T: Merge, const N: usize> Merge for [T; N] {
    #[inline]
    fn merge(&mut self, other: &Self) {
        for (own, other) in self.iter_mut().zip(other) {
            own.merge(other);
        }
    }
}
