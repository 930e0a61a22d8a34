//! Cache of keys: a policy plus the numbers of its keys, dirty bits and the owner's data.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use wordline_kernel::memory::Table;

use crate::entry::Entry;
use crate::keyed;
use crate::replacement::{Owner, Replace};
use crate::trace::Bits;

/// Error: all numbers for keys are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "a cache and its ghosts hold at most {} keys; make the cache smaller",
    Entry::LIMIT
)]
pub struct Full;

/// Maps keys to numbers and numbers to keys.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Index {
    numbers: FxHashMap<u64, Entry>,
    /// Key of each number.
    keys: Vec<u64>,
    free: Vec<Entry>,
}

impl Index {
    /// Returns the number of a key; `None` if it has none.
    #[inline]
    pub fn get(&self, key: u64) -> Option<Entry> {
        self.numbers.get(&key).copied()
    }
    /// Returns the number of a key; assigns one if it has none. Fails with [`Full`] if all numbers
    /// are in use.
    pub fn enter(&mut self, key: u64) -> Result<Entry, Full> {
        if let Some(entry) = self.get(key) {
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
        self.numbers.insert(key, entry);
        Ok(entry)
    }
    /// Returns the key of a number. For a free number, this is the last key that had it. Panics if
    /// the number was never assigned.
    #[inline]
    pub fn key(&self, entry: Entry) -> u64 {
        self.keys[entry.index()]
    }
    /// Frees a number, so that another key can get it.
    pub fn free(&mut self, entry: Entry) {
        if self.numbers.remove(&self.key(entry)).is_some() {
            self.free.push(entry);
        }
    }
    /// Returns the number of keys that have a number.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }
    /// Returns `true` if no key has a number.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }
    /// Returns the estimated memory of an index of `keys` keys, labelled `name`.
    pub fn memory(name: &'static str, keys: u64) -> Table {
        let bytes =
            keyed::bytes::<(u64, Entry)>(keys) + keys.saturating_mul(size_of::<u64>() as u64);
        Table::grown::<u8>(name, bytes)
    }
    /// Returns the memory currently allocated. Bytes.
    pub fn bytes(&self) -> u64 {
        let keys = self.keys.capacity() * size_of::<u64>();
        let free = self.free.capacity() * size_of::<Entry>();
        keyed::bytes::<(u64, Entry)>(self.numbers.capacity() as u64) + (keys + free) as u64
    }
}

/// Entry evicted or removed from a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evicted<D> {
    /// Key of the entry.
    pub key: u64,
    /// Data that the owner stored with the entry.
    pub data: D,
    /// Whether the entry must be written back to the backing store.
    pub dirty: bool,
}

/// Data and dirty bits of a cache's entries.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Contents<D> {
    index: Index,
    data: Vec<Option<D>>,
    dirty: Bits,
}

impl<D> Contents<D> {
    /// Removes and returns the data of a resident entry.
    fn take(&mut self, entry: Entry) -> Option<Evicted<D>> {
        let data = self.data.get_mut(entry.index())?.take()?;
        Some(Evicted {
            key: self.index.key(entry),
            data,
            dirty: self.dirty.take(entry.index()),
        })
    }
    fn set(&mut self, entry: Entry, data: D, write: bool) {
        if self.data.len() <= entry.index() {
            self.data.resize_with(entry.index() + 1, || None);
        }
        self.data[entry.index()] = Some(data);
        if write {
            self.dirty.insert(entry.index());
        }
    }
}

/// [`Owner`] that calls `evicted` for each eviction and frees the numbers of forgotten entries.
struct OnEvict<'a, D, F> {
    contents: &'a mut Contents<D>,
    evicted: F,
}

impl<D, F: FnMut(Evicted<D>)> Owner for OnEvict<'_, D, F> {
    fn key(&self, entry: Entry) -> u64 {
        self.contents.index.key(entry)
    }
    fn is_dirty(&self, entry: Entry) -> bool {
        self.contents.dirty.get(entry.index())
    }
    fn evicted(&mut self, entry: Entry) {
        if let Some(evicted) = self.contents.take(entry) {
            (self.evicted)(evicted);
        }
    }
    fn forgotten(&mut self, entry: Entry) {
        self.contents.index.free(entry);
    }
}

/// Cache of keys with data `D` under a policy `P`. The policy sees a load of 0 on the backing store
/// for all residents.
///
/// ```
/// use wordline_cache::{Cache, Replacement, Replacing};
///
/// let mut cache = Cache::new(Replacing::new(&Replacement::default(), 2));
/// let mut written_back = Vec::new();
/// for key in [70, 80, 70, 90] {
///     let write = key == 80;
///     cache.put(key, key * 2, write, |left| written_back.push((left.key, left.dirty)))?;
/// }
/// assert_eq!(written_back, [(80, true)]);
/// assert_eq!(cache.get(70), Some(&mut 140));
/// # Ok::<(), wordline_cache::Full>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cache<P, D> {
    policy: P,
    contents: Contents<D>,
}

impl<P: Replace, D> Cache<P, D> {
    /// Creates a cache under a policy that has not seen any request.
    pub fn new(policy: P) -> Self {
        let contents = Contents {
            index: Index::default(),
            data: Vec::new(),
            dirty: Bits::default(),
        };
        Self { policy, contents }
    }
    /// Returns the data of a key, or `None` on a miss. The policy counts a hit as a request. A miss
    /// changes nothing; the caller can fetch the data and [`Self::put`] it.
    pub fn get(&mut self, key: u64) -> Option<&mut D> {
        let entry = self.resident(key)?;
        let (contents, evicted) = (&mut self.contents, |_| {}); // a hit can only drop ghosts
        let mut owner = OnEvict { contents, evicted };
        self.policy.access(entry, false, &mut owner);
        self.contents.data.get_mut(entry.index())?.as_mut()
    }
    /// Stores data that was fetched (`write` is `false`) or written. Written data is dirty until it
    /// is evicted or cleaned. Calls `evicted` for each entry evicted. Returns `true` if the key was
    /// resident. Fails with [`Full`] if all numbers are in use.
    pub fn put(
        &mut self,
        key: u64,
        data: D,
        write: bool,
        evicted: impl FnMut(Evicted<D>),
    ) -> Result<bool, Full> {
        let entry = self.contents.index.enter(key)?;
        let contents = &mut self.contents;
        let mut owner = OnEvict { contents, evicted };
        let hit = self.policy.access(entry, write, &mut owner);
        self.contents.set(entry, data, write);
        Ok(hit)
    }
    /// Returns the data of a key without counting a request; `None` if the key is not resident.
    pub fn peek(&self, key: u64) -> Option<&D> {
        let entry = self.resident(key)?;
        self.contents.data[entry.index()].as_ref()
    }
    /// Returns `true` if a key is resident and must be written back.
    pub fn is_dirty(&self, key: u64) -> bool {
        let entry = self.resident(key);
        entry.is_some_and(|entry| self.contents.dirty.get(entry.index()))
    }
    /// Marks a resident key as written back. The key stays in the cache. Does nothing if the key is
    /// not resident.
    pub fn cleaned(&mut self, key: u64) {
        if let Some(entry) = self.resident(key) {
            self.contents.dirty.remove(entry.index());
            self.policy.cleaned(entry);
        }
    }
    /// Removes a key without writing it back; returns its data if it was resident.
    pub fn remove(&mut self, key: u64) -> Option<Evicted<D>> {
        let entry = self.contents.index.get(key)?;
        let taken = self.contents.take(entry);
        let (contents, evicted) = (&mut self.contents, |_| {});
        self.policy
            .remove(entry, &mut OnEvict { contents, evicted });
        taken
    }
    /// Changes the capacity; 0 counts as 1. Calls `evicted` for each resident that no longer fits.
    pub fn resize(&mut self, capacity: usize, evicted: impl FnMut(Evicted<D>)) {
        let contents = &mut self.contents;
        self.policy
            .resize(capacity.max(1), &mut OnEvict { contents, evicted });
    }
    /// Returns the number of resident keys.
    pub fn len(&self) -> usize {
        self.policy.len()
    }
    /// Returns `true` if no key is resident.
    pub fn is_empty(&self) -> bool {
        self.policy.is_empty()
    }
    /// Returns the number of keys that are resident or ghosts.
    pub fn known(&self) -> usize {
        self.contents.index.len()
    }
    /// Returns the policy.
    pub fn policy(&self) -> &P {
        &self.policy
    }
    /// Iterates over keys, data and dirty bits of the residents, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &D, bool)> {
        let all = self.contents.data.iter().enumerate();
        all.filter_map(|(number, data)| {
            let key = self.contents.index.key(Entry(number as u32));
            Some((key, data.as_ref()?, self.contents.dirty.get(number)))
        })
    }
    fn resident(&self, key: u64) -> Option<Entry> {
        let entry = self.contents.index.get(key)?;
        self.policy.contains(entry).then_some(entry)
    }
}
