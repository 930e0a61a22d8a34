//! The policies that choose from the end of an LRU list.

use crate::naive::{Naive, World, take};

/// Chooses from the window, whose least recently used entry is first; None: that one.
type Choose = fn(&[u32], &World) -> Option<u32>;

/// An LRU list, the least recently used entry first.
pub struct Window {
    capacity: usize,
    ratio: f64,
    choose: Choose,
    list: Vec<u32>,
}

impl Window {
    fn new(capacity: usize, ratio: f64, choose: Choose) -> Self {
        let list = Vec::new();
        Self {
            capacity,
            ratio,
            choose,
            list,
        }
    }
    /// CFLRU (Park et al. 2006).
    pub fn cflru(capacity: usize, ratio: f64) -> Self {
        Self::new(capacity, ratio, |window, world| {
            let is_clean = |&&entry: &&u32| !world.dirty[entry as usize];
            window.iter().find(is_clean).copied()
        })
    }
    /// CFLRU that keeps what lies on chips that collect (Wu et al. 2016).
    pub fn gcar_cflru(capacity: usize, ratio: f64) -> Self {
        Self::new(capacity, ratio, |window, world| {
            let free = |&&entry: &&u32| !world.collecting[entry as usize];
            let free: Vec<u32> = window.iter().filter(free).copied().collect();
            let is_clean = |&&entry: &&u32| !world.dirty[entry as usize];
            free.iter().find(is_clean).or(free.first()).copied()
        })
    }
    /// LCR (Liu et al. 2018, algorithm 1).
    pub fn lcr(capacity: usize, ratio: f64) -> Self {
        Self::new(capacity, ratio, |window, world| {
            let (mut least, mut victim) = (u64::MAX, None);
            for &entry in window {
                if !world.dirty[entry as usize] {
                    return Some(entry);
                }
                if world.load[entry as usize] < least {
                    least = world.load[entry as usize];
                    victim = Some(entry);
                }
            }
            victim
        })
    }
    fn shrink(&mut self, size: usize, world: &World) {
        while self.list.len() > size {
            let part = (self.capacity as f64 * self.ratio).floor() as usize;
            let window = &self.list[..part.clamp(1, self.list.len())];
            let victim = (self.choose)(window, world).unwrap_or(self.list[0]);
            take(&mut self.list, victim);
        }
    }
}

impl Naive for Window {
    fn access(&mut self, entry: u32, world: &World) -> bool {
        let hit = take(&mut self.list, entry);
        if !hit {
            self.shrink(self.capacity - 1, world);
        }
        self.list.push(entry);
        hit
    }
    fn remove(&mut self, entry: u32) {
        take(&mut self.list, entry);
    }
    fn resize(&mut self, capacity: usize, world: &World) {
        self.capacity = capacity;
        self.shrink(capacity, world);
    }
    fn residents(&self) -> Vec<u32> {
        self.list.clone()
    }
}
