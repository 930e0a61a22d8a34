//! Assigns dense numbers to the keys of a trace.

use std::ops::Range;

use prefetch_index::prefetch_index;
use rustc_hash::FxHashMap;

use super::AHEAD;
use crate::entry::Entry;

/// Keys below this limit are looked up in a direct table. This covers the 4 KiB pages of volumes up
/// to 64 GiB, and keys that are already dense.
const DIRECT: usize = 1 << 24;

/// Map that assigns numbers to keys in order of first appearance.
#[derive(Clone, Debug)]
pub(super) struct Interner {
    /// For each small key, one more than its number; 0 if the key has no number.
    direct: Vec<u32>,
    hashed: FxHashMap<u64, u32>,
    count: u32,
}

impl Default for Interner {
    fn default() -> Self {
        Self {
            direct: vec![0; DIRECT], // only the memory of existing keys is touched
            hashed: FxHashMap::default(),
            count: 0,
        }
    }
}

impl Interner {
    /// Returns the number of a key; assigns one if it has none. `None` if no numbers are left.
    #[inline]
    pub(super) fn number(&mut self, key: u64) -> Option<u32> {
        let known = match self.direct.get_mut(key as usize) {
            Some(slot) if key < DIRECT as u64 => slot,
            _ => self.hashed.entry(key).or_default(),
        };
        if *known == 0 {
            if self.count == Entry::LIMIT {
                return None;
            }
            self.count += 1;
            *known = self.count;
        }
        Some(*known - 1)
    }
    /// Appends the number of each key to `numbers`; assigns one to keys that have none. Returns
    /// `false`, and appends nothing, unless all keys are in the direct table and enough numbers are
    /// left. No branch depends on a key, because a branch could only be resolved after the access
    /// to the table.
    pub(super) fn append(&mut self, keys: &[u64], numbers: &mut Vec<u32>) -> bool {
        let largest = keys.iter().copied().max().unwrap_or(0);
        let left = (Entry::LIMIT - self.count) as usize;
        if largest >= DIRECT as u64 || left < keys.len() {
            return false;
        }
        let (direct, mut count) = (&mut self.direct[..DIRECT], self.count);
        let mut number = |direct: &mut [u32], key: u64| {
            let slot = &mut direct[key as usize % DIRECT];
            let is_new = *slot == 0;
            count += u32::from(is_new);
            *slot = if is_new { count } else { *slot };
            *slot - 1
        };
        let (early, late) = keys.split_at(keys.len().saturating_sub(AHEAD));
        let ahead = &keys[keys.len() - early.len()..];
        numbers.extend(early.iter().zip(ahead).map(|(&key, &ahead)| {
            prefetch_index(&*direct, ahead as usize);
            number(direct, key)
        }));
        numbers.extend(late.iter().map(|&key| number(direct, key)));
        self.count = count;
        true
    }
    /// Returns the number of a key; `None` if it has none.
    pub(super) fn known(&self, key: u64) -> Option<u32> {
        let known = match self.direct.get(key as usize) {
            Some(slot) if key < DIRECT as u64 => *slot,
            _ => *self.hashed.get(&key)?,
        };
        known.checked_sub(1)
    }
    /// Returns the numbers of the keys in a range, in key order. Examines the table of small keys,
    /// and at most as many other keys as there are numbers.
    pub(super) fn known_in(&self, keys: Range<u64>) -> Vec<u32> {
        let small = |key: u64| key.min(DIRECT as u64) as usize;
        let direct = &self.direct[small(keys.start)..small(keys.end).max(small(keys.start))];
        let mut numbers: Vec<u32> = direct.iter().filter_map(|n| n.checked_sub(1)).collect();
        let large = keys.start.max(DIRECT as u64)..keys.end;
        if large.end.saturating_sub(large.start) <= self.hashed.len() as u64 {
            numbers.extend(large.filter_map(|key| self.known(key)));
            return numbers;
        }
        let hashed = self.hashed.iter().filter(|(key, _)| large.contains(key));
        let mut hashed: Vec<_> = hashed.map(|(key, known)| (*key, *known - 1)).collect();
        hashed.sort_unstable();
        numbers.extend(hashed.into_iter().map(|(_, number)| number));
        numbers
    }
    /// Returns the keys in the order of their numbers.
    pub(super) fn keys(&self) -> Vec<u64> {
        let direct = self.direct.iter().zip(0..).filter(|(known, _)| **known > 0);
        let hashed = self.hashed.iter().map(|(key, known)| (known, *key));
        let mut keys = vec![0; self.count as usize];
        for (known, key) in direct.chain(hashed) {
            keys[*known as usize - 1] = key;
        }
        keys
    }
    /// Returns the number of keys that have a number.
    pub(super) fn len(&self) -> u32 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_appended_together_get_the_numbers_of_keys_added_one_by_one() {
        let large = DIRECT as u64;
        let (mut together, mut single) = (Interner::default(), Interner::default());
        let mut numbers = Vec::new();
        for (keys, fit) in [
            (&[5, 9, 5, large - 1, 0, 9][..], true),
            (&[3, large, 3], false),
            (&[], true),
            (&[0, 3, 5, 8, 8], true),
        ] {
            let before = numbers.len();
            assert_eq!(together.append(keys, &mut numbers), fit);
            let expected: Vec<u32> = keys.iter().filter_map(|&key| single.number(key)).collect();
            if fit {
                assert_eq!(numbers[before..], expected);
            } else {
                assert_eq!(numbers.len(), before);
                assert!(keys.iter().all(|&key| together.number(key).is_some()));
            }
        }
        assert_eq!(together.len(), single.len());
    }

    #[test]
    fn keys_are_found_in_ranges_of_any_length() {
        let mut interner = Interner::default();
        let large = DIRECT as u64;
        let keys = [7, large + 5, 3, large - 1, large, 1 << 60, 9];
        for key in keys {
            interner.number(key);
        }
        for range in [
            0..8,
            3..9,
            8..large + 1,
            large..large + 6,
            4..1 << 61,
            20..20,
            0..u64::MAX,
        ] {
            let mut expected: Vec<(u64, u32)> = keys.into_iter().zip(0..).collect();
            expected.retain(|(key, _)| range.contains(key));
            expected.sort_unstable();
            let expected: Vec<u32> = expected.into_iter().map(|(_, number)| number).collect();
            assert_eq!(interner.known_in(range.clone()), expected, "{range:?}");
        }
    }
}
