//! Dense numbers for keys.

use rustc_hash::FxHashMap;

use crate::replacement::Entry;

/// Keys below this are looked up in a table of their own: pages of volumes up to 64 GiB, or keys
/// that are dense already.
const DIRECT: usize = 1 << 24;

/// Gives keys numbers in order of first appearance.
#[derive(Clone, Debug)]
pub(super) struct Interner {
    /// By small key: one more than its number, zero if it has none.
    direct: Vec<u32>,
    hashed: FxHashMap<u64, u32>,
    count: u32,
}

impl Default for Interner {
    fn default() -> Self {
        Self {
            direct: vec![0; DIRECT], // touched only where there are keys
            hashed: FxHashMap::default(),
            count: 0,
        }
    }
}

impl Interner {
    /// The number of a key; None if there are no more.
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
    /// The number of a key that has one.
    pub(super) fn known(&self, key: u64) -> Option<u32> {
        let known = match self.direct.get(key as usize) {
            Some(slot) if key < DIRECT as u64 => *slot,
            _ => *self.hashed.get(&key)?,
        };
        known.checked_sub(1)
    }
    /// The keys in the order of their numbers.
    pub(super) fn keys(&self) -> Vec<u64> {
        let direct = self.direct.iter().zip(0..).filter(|(known, _)| **known > 0);
        let hashed = self.hashed.iter().map(|(key, known)| (known, *key));
        let mut keys = vec![0; self.count as usize];
        for (known, key) in direct.chain(hashed) {
            keys[*known as usize - 1] = key;
        }
        keys
    }
    /// How many numbers are given.
    pub(super) fn len(&self) -> u32 {
        self.count
    }
}
