//! LFU among residents, with and without dynamic aging (Arlitt et al. 2000), with ties by LRU.

use super::naive::{Naive, World};

#[derive(Clone, Copy)]
struct Counted {
    entry: u32,
    requests: u64,
    key: u64,
    last: u64,
}

pub struct Lfu {
    capacity: usize,
    aging: bool,
    now: u64,
    age: u64,
    residents: Vec<Counted>,
}

impl Lfu {
    pub fn new(capacity: usize, aging: bool) -> Self {
        Self {
            capacity,
            aging,
            now: 0,
            age: 0,
            residents: Vec::new(),
        }
    }
    fn shrink(&mut self, size: usize) {
        while self.residents.len() > size {
            self.residents.sort_by_key(|one| (one.key, one.last));
            let gone = self.residents.remove(0);
            if self.aging {
                self.age = gone.key;
            }
        }
    }
}

impl Naive for Lfu {
    fn access(&mut self, entry: u32, _: &World) -> bool {
        self.now += 1;
        let (now, age) = (self.now, self.age);
        if let Some(found) = self.residents.iter_mut().find(|one| one.entry == entry) {
            found.requests += 1;
            found.key = found.requests + age;
            found.last = now;
            return true;
        }
        self.shrink(self.capacity - 1);
        self.residents.push(Counted {
            entry,
            requests: 1,
            key: 1 + self.age,
            last: now,
        });
        false
    }
    fn remove(&mut self, entry: u32) {
        self.residents.retain(|one| one.entry != entry);
    }
    fn resize(&mut self, capacity: usize, _: &World) {
        self.capacity = capacity;
        self.shrink(capacity);
    }
    fn residents(&self) -> Vec<u32> {
        self.residents.iter().map(|one| one.entry).collect()
    }
}
