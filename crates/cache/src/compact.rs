//! Memory-efficient map of keys to dense numbers. Keys can be added and removed at any time.

use serde::{Deserialize, Serialize};
use wordline_kernel::random::splitmix;

use crate::entry::Entry;
use crate::index::Full;

/// Bits of a table slot that hold a key's number. The bits above hold part of the hash, so that a
/// look-up compares few keys other than the wanted one.
const NUMBER: u32 = 28;
const NUMBER_MASK: u32 = (1 << NUMBER) - 1;
/// Number of slots of the smallest table.
const SMALLEST: usize = 16;

/// Hash table with linear probing that maps keys to numbers. A slot of the table has four bytes,
/// and at most three in four slots are used. The keys are stored in an array by number. In total a
/// key takes 14 to 19 bytes; a table of keys and numbers would take 28 to 47.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Numbers {
    /// Slots of the table: one more than the number of a key, with bits of the key's hash above it;
    /// 0 for a free slot. The length is a power of two.
    places: Vec<u32>,
    /// Key of each number.
    keys: Vec<u64>,
    free: Vec<Entry>,
    len: usize,
}

impl Default for Numbers {
    fn default() -> Self {
        Self {
            places: vec![0; SMALLEST],
            keys: Vec::new(),
            free: Vec::new(),
            len: 0,
        }
    }
}

impl Numbers {
    /// Returns the number of keys that have a number.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
    /// Returns the number of distinct numbers assigned so far, including freed ones.
    pub(crate) fn ever(&self) -> usize {
        self.keys.len()
    }
    /// Reserves memory for exactly `more` additional numbers.
    pub(crate) fn reserve_exact(&mut self, more: usize) {
        self.keys.reserve_exact(more);
    }
    /// Returns the memory of the tables for `keys` keys. Bytes.
    pub(crate) fn bytes_of(keys: u64) -> u64 {
        let places = places_for(keys).saturating_mul(size_of::<u32>() as u64);
        places.saturating_add(keys.saturating_mul(size_of::<u64>() as u64))
    }
    /// Returns the memory currently allocated. Bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let small = self.places.capacity() * size_of::<u32>();
        let free = self.free.capacity() * size_of::<Entry>();
        (small + free + self.keys.capacity() * size_of::<u64>()) as u64
    }
    /// Returns the number of a key; `None` if it has none.
    #[inline]
    pub(crate) fn get(&self, key: u64) -> Option<Entry> {
        let hash = splitmix(key);
        let place = self.places[self.find(key, hash)];
        number(place)
    }
    /// Returns the number of a key; assigns one if it has none. Fails with [`Full`] if all numbers
    /// are in use.
    #[inline]
    pub(crate) fn enter(&mut self, key: u64) -> Result<Entry, Full> {
        let hash = splitmix(key);
        let at = self.find(key, hash);
        if let Some(entry) = number(self.places[at]) {
            return Ok(entry);
        }
        let entry = match self.free.pop() {
            Some(entry) => entry,
            None if self.keys.len() == Entry::LIMIT as usize => return Err(Full),
            None => {
                self.keys.push(key);
                Entry(self.keys.len() as u32 - 1)
            }
        };
        self.keys[entry.index()] = key;
        self.places[at] = tag(hash) | (entry.0 + 1);
        self.len += 1;
        if self.len * 4 > self.places.len() * 3 {
            self.grow();
        }
        Ok(entry)
    }
    /// Frees a number, so that another key can get it. Does nothing if the number is free.
    pub(crate) fn free(&mut self, entry: Entry) {
        let key = self.keys[entry.index()];
        let mut hole = self.find(key, splitmix(key));
        if number(self.places[hole]) != Some(entry) {
            return;
        }
        // An entry after the hole moves into the hole, unless its home slot is after the hole, too.
        let mask = self.places.len() - 1;
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let Some(other) = number(self.places[at]) else {
                break;
            };
            let home = splitmix(self.keys[other.index()]) as usize & mask;
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(hole) & mask {
                self.places[hole] = self.places[at];
                hole = at;
            }
        }
        self.places[hole] = 0;
        self.free.push(entry);
        self.len -= 1;
    }
    /// Returns the slot of a key, or the free slot that the key would take.
    #[inline]
    fn find(&self, key: u64, hash: u64) -> usize {
        let mask = self.places.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let place = self.places[at];
            let Some(entry) = number(place) else {
                return at;
            };
            if place & !NUMBER_MASK == tag(hash) && self.keys[entry.index()] == key {
                return at;
            }
            at = (at + 1) & mask;
        }
    }
    #[cold]
    fn grow(&mut self) {
        let mut places = vec![0; self.places.len() * 2];
        let mask = places.len() - 1;
        for &place in &self.places {
            let Some(entry) = number(place) else { continue };
            let mut at = splitmix(self.keys[entry.index()]) as usize & mask;
            while places[at] != 0 {
                at = (at + 1) & mask;
            }
            places[at] = place;
        }
        self.places = places;
    }
}

/// Returns the number of slots of a table that has grown to `keys` keys.
fn places_for(keys: u64) -> u64 {
    (keys.saturating_mul(4).div_ceil(3))
        .next_power_of_two()
        .max(SMALLEST as u64)
}

#[inline]
fn number(place: u32) -> Option<Entry> {
    (place & NUMBER_MASK).checked_sub(1).map(Entry)
}

/// Returns the highest four bits of a hash, in place above the number of a slot. They are
/// independent of the position of the slot, which the low bits determine.
#[inline]
fn tag(hash: u64) -> u32 {
    ((hash >> 32) as u32) & !NUMBER_MASK
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use wordline_kernel::Rng;

    use super::*;

    #[test]
    fn numbers_assigned_to_keys_match_a_map() {
        for (seed, keys) in [(1, 5), (2, 40), (3, 700), (4, 20_000)] {
            let mut random = Rng::new(seed, "compact");
            let mut numbers = Numbers::default();
            let mut map: BTreeMap<u64, Entry> = BTreeMap::new();
            for _ in 0..40_000 {
                let key = random.below(keys);
                match random.below(3) {
                    0 => assert_eq!(numbers.get(key), map.get(&key).copied()),
                    1 => {
                        if let Some(entry) = map.remove(&key) {
                            numbers.free(entry);
                        }
                    }
                    _ => {
                        let entry = numbers.enter(key).unwrap();
                        let before = map.insert(key, entry);
                        assert!(before.is_none_or(|before| before == entry));
                    }
                }
                assert_eq!(numbers.len(), map.len());
            }
            for key in 0..keys {
                assert_eq!(numbers.get(key), map.get(&key).copied());
            }
            let given: std::collections::BTreeSet<_> = map.values().collect();
            assert_eq!(given.len(), map.len(), "each number belongs to one key");
            let most = Numbers::bytes_of(numbers.ever() as u64);
            assert!(numbers.places.len() as u64 * 4 <= most);
        }
    }

    #[test]
    fn unused_number_cannot_be_freed() {
        let mut numbers = Numbers::default();
        let entry = numbers.enter(7).unwrap();
        numbers.free(entry);
        numbers.free(entry);
        assert_eq!((numbers.len(), numbers.get(7)), (0, None));
        assert_ne!(numbers.enter(1), numbers.enter(2));
    }
}
