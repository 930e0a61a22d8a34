//! Caches that store data with their keys.
#![allow(clippy::unwrap_used)] // test code, also outside test functions

use std::collections::BTreeMap;

use wordline_cache::{Cache, Entry, Evicted, Index, Replace, Replacement, Replacing};
use wordline_kernel::Rng;

#[test]
fn freed_numbers_are_reused() {
    let mut index = Index::default();
    let first = index.enter(1 << 40).unwrap();
    let second = index.enter(9).unwrap();
    assert_eq!((first, second, index.len()), (Entry(0), Entry(1), 2));
    assert_eq!(index.enter(9).unwrap(), second);
    index.free(first);
    index.free(first);
    assert_eq!((index.get(1 << 40), index.len()), (None, 1));
    assert_eq!(index.enter(7).unwrap(), first);
    assert_eq!((index.key(first), index.key(second)), (7, 9));
    assert_eq!(index.enter(8).unwrap(), Entry(2));
}

/// Cache, and a map of its expected content: data and dirty bits.
struct Pair {
    cache: Cache<Replacing, u64>,
    map: BTreeMap<u64, (u64, bool)>,
    data: u64,
}

impl Pair {
    fn evict(map: &mut BTreeMap<u64, (u64, bool)>, left: &Evicted<u64>) {
        assert_eq!(map.remove(&left.key), Some((left.data, left.dirty)));
    }
    fn put(&mut self, key: u64, write: bool) {
        self.data += 1;
        let map = &mut self.map;
        let hit = self
            .cache
            .put(key, self.data, write, |left| Self::evict(map, &left));
        let before = self.map.get(&key).copied();
        assert_eq!(hit, Ok(before.is_some()));
        let dirty = write || before.is_some_and(|(_, dirty)| dirty);
        self.map.insert(key, (self.data, dirty));
    }
    fn remove(&mut self, key: u64) {
        let taken = self.cache.remove(key);
        let expected = self.map.remove(&key);
        assert_eq!(taken.map(|left| (left.data, left.dirty)), expected);
    }
    fn resize(&mut self, capacity: usize) {
        let map = &mut self.map;
        self.cache.resize(capacity, |left| Self::evict(map, &left));
    }
    fn clean(&mut self, key: u64) {
        self.cache.cleaned(key);
        if let Some((_, dirty)) = self.map.get_mut(&key) {
            *dirty = false;
        }
    }
    fn step(&mut self, random: &mut Rng) {
        let key = random.below(60) << 20;
        match random.below(30) {
            0 => self.resize(1 + random.below(30) as usize),
            1 => self.remove(key),
            2 => self.clean(key),
            3..10 => {
                let expected = self.map.get(&key).map(|&(data, _)| data);
                assert_eq!(self.cache.get(key).copied(), expected);
            }
            draw => self.put(key, draw < 20),
        }
    }
    /// Checks that exactly the resident keys and ghosts have numbers.
    fn check_numbers(&self) {
        let known = (0..200).map(Entry).filter(|&entry| {
            let policy = self.cache.policy();
            policy.contains(entry) || policy.remembers(entry)
        });
        assert_eq!(self.cache.known(), known.count());
    }
    fn check(&self) {
        let mut all: Vec<_> = self.cache.iter().collect();
        all.sort_unstable();
        let expected = self
            .map
            .iter()
            .map(|(&key, (data, dirty))| (key, data, *dirty));
        assert!(all.into_iter().eq(expected));
        assert_eq!(self.cache.len(), self.map.len());
        assert_eq!(self.cache.is_empty(), self.map.is_empty());
        assert!(self.cache.len() <= self.cache.policy().capacity());
        for (&key, (data, dirty)) in &self.map {
            assert_eq!(
                (self.cache.peek(key), self.cache.is_dirty(key)),
                (Some(data), *dirty)
            );
        }
    }
}

#[test]
fn cache_keeps_data_until_eviction() {
    for policy in Replacement::defaults() {
        let mut random = Rng::new(1, "index");
        let mut pair = Pair {
            cache: Cache::new(Replacing::new(&policy, 12)),
            map: BTreeMap::new(),
            data: 0,
        };
        for _ in 0..4_000 {
            pair.step(&mut random);
            pair.check();
            pair.check_numbers();
        }
    }
}
