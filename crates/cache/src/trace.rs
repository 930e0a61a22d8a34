//! Runs of a policy over a whole trace.
//!
//! The keys of a trace are given dense numbers once, in order of first appearance; then every
//! policy and size runs over the numbers.

use rustc_hash::FxHashMap;

use crate::replacement::{Entry, Owner, Replace};

/// A set of small numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Bits(Vec<u64>);

impl Bits {
    #[inline]
    fn get(&self, index: usize) -> bool {
        let word = self.0.get(index / 64).copied().unwrap_or(0);
        word >> (index % 64) & 1 != 0
    }
    #[inline]
    fn set(&mut self, index: usize, value: bool) {
        let word = index / 64;
        if self.0.len() <= word {
            if !value {
                return;
            }
            self.0.resize(word + 1, 0);
        }
        let bit = 1 << (index % 64);
        self.0[word] = if value {
            self.0[word] | bit
        } else {
            self.0[word] & !bit
        };
    }
}

/// The requests of a trace, one page each: dense numbers of keys in order of first appearance, and
/// which of them write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    numbers: Vec<u32>,
    writes: Bits,
    footprint: u32,
}

impl Requests {
    /// Reads of keys.
    pub fn from_keys(keys: impl IntoIterator<Item = u64>) -> Self {
        let mut requests = Self::default();
        let mut index = FxHashMap::default();
        for key in keys {
            let next = index.len() as u32;
            requests.numbers.push(*index.entry(key).or_insert(next));
        }
        requests.footprint = index.len() as u32;
        requests
    }
    /// How many.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }
    /// Distinct keys. Numbers are below this.
    pub fn footprint(&self) -> u32 {
        self.footprint
    }
    /// The number of the key of each request.
    pub fn numbers(&self) -> &[u32] {
        &self.numbers
    }
    /// Whether a request, by its place in the trace, is a write.
    #[inline]
    pub fn is_write(&self, place: usize) -> bool {
        self.writes.get(place)
    }
    /// For each request the place of the next one of the same key; `u32::MAX` if there is none.
    pub fn next(&self) -> Vec<u32> {
        let mut upcoming = vec![u32::MAX; self.footprint as usize];
        let mut next = vec![u32::MAX; self.len()];
        for (place, &number) in self.numbers.iter().enumerate().rev() {
            next[place] = std::mem::replace(&mut upcoming[number as usize], place as u32);
        }
        next
    }
}

/// What came of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests.
    pub requests: u64,
    /// Those of them that write.
    pub writes: u64,
    /// Requests that found their key resident.
    pub hits: u64,
    /// Writes that found their key resident.
    pub write_hits: u64,
    /// Entries evicted.
    pub evictions: u64,
    /// Entries evicted that had been written since they came.
    pub write_backs: u64,
}

impl Counts {
    /// Requests that did not find their key resident.
    pub fn misses(&self) -> u64 {
        self.requests - self.hits
    }
}

/// Keeps the dirty bits of a run and counts who leaves.
#[derive(Debug, Default)]
struct Leaving {
    dirty: Bits,
    counts: Counts,
}

impl Owner for Leaving {
    #[inline]
    fn is_dirty(&self, entry: Entry) -> bool {
        self.dirty.get(entry.index())
    }
    #[inline]
    fn evicted(&mut self, entry: Entry) {
        self.counts.evictions += 1;
        if self.dirty.get(entry.index()) {
            self.dirty.set(entry.index(), false);
            self.counts.write_backs += 1;
        }
    }
}

/// One request after the other.
pub fn one_by_one(policy: &mut impl Replace, requests: &Requests) -> Counts {
    let mut owner = Leaving::default();
    let next = if policy.foresees() {
        requests.next()
    } else {
        Vec::new()
    };
    for (place, &number) in requests.numbers.iter().enumerate() {
        if let Some(&next) = next.get(place) {
            policy.foresee(next);
        }
        let write = requests.is_write(place);
        let hit = policy.access(Entry(number), write, &mut owner);
        owner.counts.hits += u64::from(hit);
        if write {
            owner.counts.writes += 1;
            owner.counts.write_hits += u64::from(hit);
            owner.dirty.set(number as usize, true);
        }
    }
    owner.counts.requests = requests.len() as u64;
    owner.counts
}
