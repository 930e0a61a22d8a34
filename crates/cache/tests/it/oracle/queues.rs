//! LRU, FIFO and Clock. Each queue begins with its oldest entry.

use super::naive::{Naive, World, take};

/// Queue whose first entry is the victim: FIFO, or LRU if a hit moves the entry to the end.
pub struct Queue {
    capacity: usize,
    moves: bool,
    entries: Vec<u32>,
}

impl Queue {
    pub fn fifo(capacity: usize) -> Self {
        let (moves, entries) = (false, Vec::new());
        Self {
            capacity,
            moves,
            entries,
        }
    }
    pub fn lru(capacity: usize) -> Self {
        let fifo = Self::fifo(capacity);
        Self {
            moves: true,
            ..fifo
        }
    }
    fn shrink(&mut self, size: usize) {
        while self.entries.len() > size {
            self.entries.remove(0);
        }
    }
}

impl Naive for Queue {
    fn access(&mut self, entry: u32, _: &World) -> bool {
        let hit = self.entries.contains(&entry);
        if !hit {
            self.shrink(self.capacity - 1);
        }
        if !hit || self.moves {
            take(&mut self.entries, entry);
            self.entries.push(entry);
        }
        hit
    }
    fn remove(&mut self, entry: u32) {
        take(&mut self.entries, entry);
    }
    fn resize(&mut self, capacity: usize, _: &World) {
        self.capacity = capacity;
        self.shrink(capacity);
    }
    fn residents(&self) -> Vec<u32> {
        self.entries.clone()
    }
}

/// Ring of entries, stored from the entry that the hand points at (Corbató 1968).
pub struct Clock {
    capacity: usize,
    ring: Vec<(u32, bool)>,
}

impl Clock {
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            ring: Vec::new(),
        }
    }
    fn shrink(&mut self, size: usize) {
        while self.ring.len() > size {
            let (entry, used) = self.ring.remove(0);
            if used {
                self.ring.push((entry, false));
            }
        }
    }
}

impl Naive for Clock {
    fn access(&mut self, entry: u32, _: &World) -> bool {
        if let Some(found) = self.ring.iter_mut().find(|(other, _)| *other == entry) {
            found.1 = true;
            return true;
        }
        self.shrink(self.capacity - 1);
        self.ring.push((entry, false));
        false
    }
    fn remove(&mut self, entry: u32) {
        self.ring.retain(|&(other, _)| other != entry);
    }
    fn resize(&mut self, capacity: usize, _: &World) {
        self.capacity = capacity;
        self.shrink(capacity);
    }
    fn residents(&self) -> Vec<u32> {
        self.ring.iter().map(|&(entry, _)| entry).collect()
    }
}
