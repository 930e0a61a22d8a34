//! Set of packages that a scheduler has to examine.

use serde::{Deserialize, Serialize};

/// Packages that have changed since the scheduler last found nothing to commit there.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Changed {
    /// One bit per package.
    words: Vec<u64>,
    count: u32,
}

impl Changed {
    /// Creates an empty set.
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds a package.
    #[inline]
    pub fn insert(&mut self, package: u32) {
        let (word, bit) = place(package);
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.count += u32::from(self.words[word] & bit == 0);
        self.words[word] |= bit;
    }
    /// Removes a package, if it is in the set.
    #[inline]
    pub fn remove(&mut self, package: u32) {
        let (word, bit) = place(package);
        if let Some(word) = self.words.get_mut(word) {
            self.count -= u32::from(*word & bit != 0);
            *word &= !bit;
        }
    }
    /// Removes all packages.
    #[inline]
    pub fn clear(&mut self) {
        if self.count > 0 {
            self.words.fill(0);
            self.count = 0;
        }
    }
    /// Returns `true` if no package is in the set.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
    /// Returns the first package from `from` on.
    #[inline]
    pub fn next_from(&self, from: u32) -> Option<u32> {
        let (first, bit) = place(from);
        let head = self.words.get(first)? & !(bit - 1);
        if head != 0 {
            return Some(package(first, head));
        }
        let rest = self.words.iter().enumerate().skip(first + 1);
        let mut some = rest.filter(|(_, bits)| **bits != 0);
        some.next().map(|(word, bits)| package(word, *bits))
    }
    /// Iterates over the packages, in ascending order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let next = |after: &u32| self.next_from(after + 1);
        std::iter::successors(self.next_from(0), next)
    }
}

impl FromIterator<u32> for Changed {
    fn from_iter<I: IntoIterator<Item = u32>>(packages: I) -> Self {
        let mut changed = Self::new();
        packages
            .into_iter()
            .for_each(|package| changed.insert(package));
        changed
    }
}

/// Returns the index of the word that contains the bit of a package, and that bit.
const fn place(package: u32) -> (usize, u64) {
    ((package / 64) as usize, 1 << (package % 64))
}

/// Returns the package of the lowest set bit of a word.
const fn package(word: usize, bits: u64) -> u32 {
    word as u32 * 64 + bits.trailing_zeros()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use wordline_kernel::Rng;

    use super::*;

    #[test]
    fn changed_set_behaves_like_a_sorted_set() {
        let mut random = Rng::new(1, "packages");
        let (mut changed, mut naive) = (Changed::new(), BTreeSet::new());
        for turn in 0..20_000 {
            let package = random.below(300) as u32;
            match random.below(5) {
                0 | 1 => {
                    changed.insert(package);
                    naive.insert(package);
                }
                2 | 3 => {
                    changed.remove(package);
                    naive.remove(&package);
                }
                _ if turn % 97 == 0 => {
                    changed.clear();
                    naive.clear();
                }
                _ => {}
            }
            let next = naive.range(package..).next().copied();
            assert_eq!(changed.next_from(package), next);
            assert_eq!(changed.is_empty(), naive.is_empty());
            assert!(changed.iter().eq(naive.iter().copied()));
        }
    }
}
