//! Caches of keys: a policy, the numbers of its keys, dirty bits and what the owner keeps with each.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use wordline_kernel::memory::Table;

use crate::entry::Entry;
use crate::keyed;
use crate::replacement::{Owner, Replace};
use crate::trace::Bits;

/// There are no more numbers for keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "a cache and its ghosts know at most {} keys; make it smaller",
    Entry::LIMIT
)]
pub struct Full;

/// The numbers of keys.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Index {
    numbers: FxHashMap<u64, Entry>,
    /// By number.
    keys: Vec<u64>,
    free: Vec<Entry>,
}

impl Index {
    /// The number of a key.
    #[inline]
    pub fn get(&self, key: u64) -> Option<Entry> {
        self.numbers.get(&key).copied()
    }
    /// The number of a key, which gets one if it has none.
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
    /// The key of a number that is given, or that last had it.
    #[inline]
    pub fn key(&self, entry: Entry) -> u64 {
        self.keys[entry.index()]
    }
    /// Takes a number back, to be given to another key.
    pub fn free(&mut self, entry: Entry) {
        if self.numbers.remove(&self.key(entry)).is_some() {
            self.free.push(entry);
        }
    }
    /// How many numbers are given.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }
    /// Whether no number is given.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }
    /// What the numbers of `keys` keys take.
    pub fn memory(name: &'static str, keys: u64) -> Table {
        let bytes =
            keyed::bytes::<(u64, Entry)>(keys) + keys.saturating_mul(size_of::<u64>() as u64);
        Table::grown::<u8>(name, bytes)
    }
    /// Bytes that it takes now, as far as it has grown.
    pub fn bytes(&self) -> u64 {
        let keys = self.keys.capacity() * size_of::<u64>();
        let free = self.free.capacity() * size_of::<Entry>();
        keyed::bytes::<(u64, Entry)>(self.numbers.capacity() as u64) + (keys + free) as u64
    }
}

/// Who leaves a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evicted<D> {
    /// The key.
    pub key: u64,
    /// What the owner kept with it.
    pub data: D,
    /// Whether it has to be written back.
    pub dirty: bool,
}

/// What a cache keeps of its entries.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Contents<D> {
    index: Index,
    data: Vec<Option<D>>,
    dirty: Bits,
}

impl<D> Contents<D> {
    /// Takes out what is kept of a resident.
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

/// The owner of the entries: calls `evicted` with whom the policy evicts.
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

/// A cache of keys with data `D` under a policy `P`. Its residents are equally loaded below, as far as
/// the policy can tell.
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
    /// A cache under a policy that has not seen anything.
    pub fn new(policy: P) -> Self {
        let contents = Contents {
            index: Index::default(),
            data: Vec::new(),
            dirty: Bits::default(),
        };
        Self { policy, contents }
    }
    /// A read that is counted as a request if its key is resident; otherwise nothing happens, and
    /// the owner may fetch the data and [`Self::put`] it.
    pub fn get(&mut self, key: u64) -> Option<&mut D> {
        let entry = self.resident(key)?;
        let (contents, evicted) = (&mut self.contents, |_| {}); // on a hit only ghosts leave
        let mut owner = OnEvict { contents, evicted };
        self.policy.access(entry, false, &mut owner);
        self.contents.data.get_mut(entry.index())?.as_mut()
    }
    /// A request that brings data: fetched, or written (and dirty until it leaves or is said to be
    /// clean). Whether the key was resident.
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
    /// What is kept with a resident, without a request.
    pub fn peek(&self, key: u64) -> Option<&D> {
        let entry = self.resident(key)?;
        self.contents.data[entry.index()].as_ref()
    }
    /// Whether a key is resident and has to be written back.
    pub fn is_dirty(&self, key: u64) -> bool {
        let entry = self.resident(key);
        entry.is_some_and(|entry| self.contents.dirty.get(entry.index()))
    }
    /// A resident has been written back and stays.
    pub fn cleaned(&mut self, key: u64) {
        if let Some(entry) = self.resident(key) {
            self.contents.dirty.remove(entry.index());
            self.policy.cleaned(entry);
        }
    }
    /// The key is gone; what was kept if it was resident. It is not written back.
    pub fn remove(&mut self, key: u64) -> Option<Evicted<D>> {
        let entry = self.contents.index.get(key)?;
        let taken = self.contents.take(entry);
        let (contents, evicted) = (&mut self.contents, |_| {});
        self.policy
            .remove(entry, &mut OnEvict { contents, evicted });
        taken
    }
    /// Changes the capacity, at least 1.
    pub fn resize(&mut self, capacity: usize, evicted: impl FnMut(Evicted<D>)) {
        let contents = &mut self.contents;
        self.policy
            .resize(capacity.max(1), &mut OnEvict { contents, evicted });
    }
    /// How many are resident.
    pub fn len(&self) -> usize {
        self.policy.len()
    }
    /// Whether none is resident.
    pub fn is_empty(&self) -> bool {
        self.policy.is_empty()
    }
    /// How many are resident or ghosts.
    pub fn known(&self) -> usize {
        self.contents.index.len()
    }
    /// The policy.
    pub fn policy(&self) -> &P {
        &self.policy
    }
    /// Keys and data of the residents, in no particular order, and whether they are dirty.
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
