//! SIEVE (Zhang et al., NSDI 2024, algorithm 1).

use super::naive::{Naive, World};

pub struct Sieve {
    capacity: usize,
    /// Entries with their "visited" bit, the oldest first.
    queue: Vec<(u32, bool)>,
    /// Index in the queue at which the next search begins.
    hand: usize,
}

impl Sieve {
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            queue: Vec::new(),
            hand: 0,
        }
    }
    fn shrink(&mut self, size: usize) {
        while self.queue.len() > size {
            if self.queue[self.hand].1 {
                self.queue[self.hand].1 = false;
                self.hand += 1;
            } else {
                // The next younger entry moves to the index of the evicted one.
                self.queue.remove(self.hand);
            }
            self.wrap();
        }
    }
    /// Moves the hand from the youngest entry to the oldest.
    fn wrap(&mut self) {
        if self.hand >= self.queue.len() {
            self.hand = 0;
        }
    }
}

impl Naive for Sieve {
    fn access(&mut self, entry: u32, _: &World) -> bool {
        if let Some(found) = self.queue.iter_mut().find(|(other, _)| *other == entry) {
            found.1 = true;
            return true;
        }
        self.shrink(self.capacity - 1);
        self.queue.push((entry, false));
        false
    }
    fn remove(&mut self, entry: u32) {
        let Some(at) = self.queue.iter().position(|&(other, _)| other == entry) else {
            return;
        };
        self.queue.remove(at);
        if at < self.hand {
            self.hand -= 1;
        }
        self.wrap();
    }
    fn resize(&mut self, capacity: usize, _: &World) {
        self.capacity = capacity;
        self.shrink(capacity);
    }
    fn residents(&self) -> Vec<u32> {
        self.queue.iter().map(|&(entry, _)| entry).collect()
    }
}
