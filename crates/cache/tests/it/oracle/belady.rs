//! Belady's MIN (1966) with ties by LRU, and the unbounded cache.

use super::naive::{Naive, World};
use std::cmp::Reverse;
use std::collections::BTreeSet;

pub struct Belady {
    capacity: usize,
    now: u64,
    next: u32,
    /// Per resident: entry, place of its next request, number of its last request.
    residents: Vec<(u32, u32, u64)>,
}

impl Belady {
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            now: 0,
            next: u32::MAX,
            residents: Vec::new(),
        }
    }
    fn shrink(&mut self, size: usize) {
        while self.residents.len() > size {
            self.residents
                .sort_by_key(|&(_, next, last)| (Reverse(next), last));
            self.residents.remove(0);
        }
    }
}

impl Naive for Belady {
    fn set_next_use(&mut self, next: u32) {
        self.next = next;
    }
    fn access(&mut self, entry: u32, _: &World) -> bool {
        self.now += 1;
        let before = self.residents.len();
        self.remove(entry);
        let hit = self.residents.len() < before;
        if !hit {
            self.shrink(self.capacity - 1);
        }
        self.residents.push((entry, self.next, self.now));
        self.next = u32::MAX;
        hit
    }
    fn remove(&mut self, entry: u32) {
        self.residents.retain(|one| one.0 != entry);
    }
    fn resize(&mut self, capacity: usize, _: &World) {
        self.capacity = capacity;
        self.shrink(capacity);
    }
    fn residents(&self) -> Vec<u32> {
        self.residents.iter().map(|one| one.0).collect()
    }
}

#[derive(Default)]
pub struct Unbounded {
    seen: BTreeSet<u32>,
}

impl Naive for Unbounded {
    fn access(&mut self, entry: u32, _: &World) -> bool {
        !self.seen.insert(entry)
    }
    fn remove(&mut self, entry: u32) {
        self.seen.remove(&entry);
    }
    fn resize(&mut self, _: usize, _: &World) {}
    fn residents(&self) -> Vec<u32> {
        self.seen.iter().copied().collect()
    }
}
