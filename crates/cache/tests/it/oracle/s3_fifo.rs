//! S3-FIFO (Yang et al., SOSP 2023, section 4 and the authors' simulator).

use super::naive::{Naive, World, take};

/// The queues begin with their oldest entry. Resident entries are stored with their hits since
/// insertion.
pub struct S3Fifo {
    capacity: usize,
    small_ratio: f64,
    promotion_hits: u32,
    small: Vec<(u32, u32)>,
    main: Vec<(u32, u32)>,
    ghost: Vec<u32>,
}

impl S3Fifo {
    pub fn new(capacity: usize, small_ratio: f64, promotion_hits: u32) -> Self {
        Self {
            capacity,
            small_ratio,
            promotion_hits,
            small: Vec::new(),
            main: Vec::new(),
            ghost: Vec::new(),
        }
    }
    fn main_share(&self) -> usize {
        let small = (self.capacity as f64 * self.small_ratio) as usize;
        self.capacity - small.clamp(1, self.capacity)
    }
    fn shrink(&mut self, size: usize) {
        while self.small.len() + self.main.len() > size {
            if self.small.is_empty() || self.main.len() > self.main_share() {
                self.evict_main();
            } else {
                self.evict_small();
            }
        }
        while self.ghost.len() > self.main_share() {
            self.ghost.remove(0);
        }
    }
    fn evict_small(&mut self) {
        while !self.small.is_empty() {
            let (entry, hits) = self.small.remove(0);
            if hits < self.promotion_hits {
                self.ghost.push(entry);
                return;
            }
            self.main.push((entry, 0));
        }
    }
    fn evict_main(&mut self) {
        loop {
            let (entry, hits) = self.main.remove(0);
            if hits == 0 {
                return;
            }
            self.main.push((entry, hits - 1));
        }
    }
}

impl Naive for S3Fifo {
    fn access(&mut self, entry: u32, _: &World) -> bool {
        let mut all = self.small.iter_mut().chain(&mut self.main);
        if let Some((_, hits)) = all.find(|(other, _)| *other == entry) {
            *hits = (*hits + 1).min(3);
            return true;
        }
        let known = take(&mut self.ghost, entry);
        self.shrink(self.capacity - 1);
        if known {
            self.main.push((entry, 0));
        } else {
            self.small.push((entry, 0));
        }
        false
    }
    fn remove(&mut self, entry: u32) {
        self.small.retain(|&(other, _)| other != entry);
        self.main.retain(|&(other, _)| other != entry);
        take(&mut self.ghost, entry);
    }
    fn resize(&mut self, capacity: usize, _: &World) {
        self.capacity = capacity;
        self.shrink(capacity);
    }
    fn residents(&self) -> Vec<u32> {
        let all = self.small.iter().chain(&self.main);
        all.map(|&(entry, _)| entry).collect()
    }
    fn ghosts(&self) -> Vec<u32> {
        self.ghost.clone()
    }
}
