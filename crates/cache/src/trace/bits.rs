//! Bit sets.

use serde::{Deserialize, Serialize};

/// Set of small numbers, stored as one bit per number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    /// Creates an empty set with space for the numbers below `count`.
    pub(crate) fn with_capacity(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }
    #[inline]
    pub(crate) fn get(&self, number: usize) -> bool {
        let word = self.0.get(number / 64).copied().unwrap_or(0);
        word >> (number % 64) & 1 != 0
    }
    #[inline]
    pub(crate) fn insert(&mut self, number: usize) {
        let word = number / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (number % 64);
    }
    /// Removes a number. Does nothing if it is not in the set.
    #[inline]
    pub(crate) fn remove(&mut self, number: usize) {
        if let Some(word) = self.0.get_mut(number / 64) {
            *word &= !(1 << (number % 64));
        }
    }
    /// Removes a number; returns `true` if it was in the set.
    #[inline]
    pub(crate) fn take(&mut self, number: usize) -> bool {
        let was = self.get(number);
        if was {
            self.remove(number);
        }
        was
    }
    /// Returns the smallest number in the set that is at least `from`; `None` if there is none.
    #[inline]
    pub(crate) fn next(&self, from: usize) -> Option<usize> {
        let mut word = from / 64;
        let mut bits = self.0.get(word)? & u64::MAX << (from % 64);
        while bits == 0 {
            word += 1;
            bits = *self.0.get(word)?;
        }
        Some(word * 64 + bits.trailing_zeros() as usize)
    }
    /// Returns `true` if no space was ever allocated, so that the set is certainly empty. A set
    /// with space counts as non-empty even if it holds no number.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    pub(crate) fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use wordline_kernel::Rng;

    use super::*;

    #[test]
    fn bit_set_matches_a_set_of_numbers() {
        let mut random = Rng::new(1, "bits");
        let (mut bits, mut set) = (Bits::default(), BTreeSet::new());
        for _ in 0..20_000 {
            let (number, from) = (random.below(700) as usize, random.below(800) as usize);
            match random.below(3) {
                0 => {
                    bits.insert(number);
                    set.insert(number);
                }
                1 => assert_eq!(bits.take(number), set.remove(&number)),
                _ => {
                    bits.remove(number);
                    set.remove(&number);
                }
            }
            assert_eq!(bits.get(from), set.contains(&from));
            assert_eq!(bits.next(from), set.range(from..).next().copied());
            assert_eq!(bits.count() as usize, set.len());
        }
    }
}
