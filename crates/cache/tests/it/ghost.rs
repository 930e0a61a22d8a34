//! Ghost lists, compared with a plain queue and with LRU caches.
#![allow(clippy::unwrap_used)] // test code, also outside test functions

use std::collections::VecDeque;

use wordline_cache::{Cache, Ghosts, Replacement, Replacing};
use wordline_kernel::Rng;

/// Ghost list, and a queue that must have the same content.
struct Pair {
    ghosts: Ghosts,
    /// Keys of the list, the most recent first.
    queue: VecDeque<u64>,
    hits: Vec<u64>,
    size: usize,
}

impl Pair {
    fn new(segments: usize, size: usize) -> Self {
        Self {
            ghosts: Ghosts::new(segments, size),
            queue: VecDeque::new(),
            hits: vec![0; segments],
            size,
        }
    }
    fn left(&mut self, key: u64) {
        self.ghosts.left(key).unwrap();
        self.queue.retain(|&other| other != key);
        self.queue.push_front(key);
        self.queue.truncate(self.hits.len() * self.size);
    }
    fn find(&mut self, key: u64) {
        let place = self.queue.iter().position(|&other| other == key);
        let segment = place.map(|place| place / self.size);
        assert_eq!(self.ghosts.find(key), segment);
        if let (Some(place), Some(segment)) = (place, segment) {
            self.queue.remove(place);
            self.hits[segment] += 1;
        }
    }
    /// Handles a request for a key of a list that represents a whole LRU stack. The key becomes the
    /// most recent one, whether or not it was in the list.
    fn touch(&mut self, key: u64) {
        let place = self.queue.iter().position(|&other| other == key);
        let segment = place.map(|place| place / self.size);
        assert_eq!(self.ghosts.touch(key), Ok(segment));
        if let Some(segment) = segment {
            self.hits[segment] += 1;
        }
        self.queue.retain(|&other| other != key);
        self.queue.push_front(key);
        self.queue.truncate(self.hits.len() * self.size);
    }
    fn forget(&mut self, key: u64) {
        self.ghosts.forget(key);
        self.queue.retain(|&other| other != key);
    }
    fn check(&self, keys: u64) {
        assert_eq!(self.ghosts.len(), self.queue.len());
        assert_eq!(self.ghosts.is_empty(), self.queue.is_empty());
        for key in 0..keys {
            let place = self.queue.iter().position(|&other| other == key);
            assert_eq!(self.ghosts.contains(key), place.is_some());
            assert_eq!(self.ghosts.segment(key), place.map(|at| at / self.size));
        }
        assert_eq!(self.ghosts.hits().collect::<Vec<_>>(), self.hits);
    }
}

#[test]
fn segment_of_a_key_follows_from_its_position_in_the_queue() {
    for seed in 0..60 {
        let mut random = Rng::new(seed, "ghost");
        let segments = 1 + random.below(5) as usize;
        let size = 1 + random.below(6) as usize;
        let mut pair = Pair::new(segments, size);
        for _ in 0..2_000 {
            let key = random.below(40);
            match random.below(12) {
                0 => pair.forget(key),
                8..12 => pair.touch(key),
                1..4 => pair.find(key),
                _ => pair.left(key),
            }
            pair.check(40);
        }
    }
}

#[test]
fn touched_stack_counts_the_hits_of_lru_caches_of_every_size() {
    const SIZE: usize = 9;
    let mut random = Rng::new(1, "ghost.stack");
    let mut stack = Ghosts::new(6, SIZE);
    let mut caches = [1, 2, 3, 4, 5, 6].map(|segments| lru(segments * SIZE));
    for round in 0..2 {
        let mut hits = [0; 6];
        stack.forget_hits();
        for _ in 0..8_000 {
            let bound = 1 + random.below(90);
            let key = random.below(bound);
            stack.touch(key).unwrap();
            for (cache, hits) in caches.iter_mut().zip(&mut hits) {
                *hits += u64::from(cache.put(key, (), false, |_| {}).unwrap());
            }
        }
        let told = stack.hits().scan(0, |sum, hits| {
            *sum += hits;
            Some(*sum)
        });
        assert_eq!(told.collect::<Vec<_>>(), hits, "round {round}");
    }
}

fn lru(capacity: usize) -> Cache<Replacing, ()> {
    Cache::new(Replacing::new(&Replacement::default(), capacity))
}

#[test]
fn segments_count_the_hits_of_larger_lru_caches() {
    const SIZE: usize = 7;
    let mut random = Rng::new(1, "ghost.larger");
    let mut ghosts = Ghosts::new(4, SIZE);
    let mut small = lru(10);
    let mut larger = [1, 2, 3, 4].map(|more| lru(10 + more * SIZE));
    let (mut hits, mut larger_hits) = (0, [0; 4]);
    for _ in 0..20_000 {
        let bound = 1 + random.below(80);
        let key = random.below(bound);
        let mut left = Vec::new();
        if small
            .put(key, (), false, |evicted| left.push(evicted.key))
            .unwrap()
        {
            hits += 1;
        } else {
            ghosts.find(key);
        }
        for key in left {
            ghosts.left(key).unwrap();
        }
        for (cache, hits) in larger.iter_mut().zip(&mut larger_hits) {
            *hits += u64::from(cache.put(key, (), false, |_| {}).unwrap());
        }
    }
    let mut told = hits;
    for (segment_hits, hits) in ghosts.hits().zip(larger_hits) {
        told += segment_hits;
        assert_eq!(told, hits);
    }
    assert!(larger_hits[3] > hits, "the larger cache has more hits");
}
