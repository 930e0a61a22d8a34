//! LRU lists whose victims come from a window at their end: CFLRU (Park et al., CASES 2006),
//! GCaR-CFLRU (Wu et al., ICS 2016) and LCR (Liu et al., algorithm 1).

use super::naive::{Naive, World, take};

#[derive(Clone, Copy)]
pub enum Rule {
    /// Evicts the first clean entry.
    Cflru,
    /// Evicts the first clean entry whose die is not in GC, otherwise the first entry whose die is
    /// not in GC.
    GcarCflru,
    /// Evicts the first clean entry, otherwise the first entry with the smallest load.
    Lcr,
}

pub struct Window {
    capacity: usize,
    ratio: f64,
    rule: Rule,
    /// Residents, the least recently used first.
    queue: Vec<u32>,
}

impl Window {
    pub fn new(capacity: usize, ratio: f64, rule: Rule) -> Self {
        Self {
            capacity,
            ratio,
            rule,
            queue: Vec::new(),
        }
    }
    fn victim(&self, world: &World) -> u32 {
        let size = ((self.capacity as f64 * self.ratio) as usize).max(1);
        let window = &self.queue[..size.min(self.queue.len())];
        let first = |wanted: &dyn Fn(usize) -> bool| {
            let mut window = window.iter().copied();
            window.find(|&entry| wanted(entry as usize))
        };
        let clean = first(&|entry| !world.dirty[entry]);
        let free = |entry: usize| !world.collecting[entry];
        let victim = match self.rule {
            Rule::Cflru => clean,
            Rule::GcarCflru => first(&|entry| !world.dirty[entry] && free(entry)).or(first(&free)),
            Rule::Lcr => {
                let loads = window.iter().map(|&entry| world.load[entry as usize]);
                let least = loads.min();
                clean.or(first(&|entry| Some(world.load[entry]) == least))
            }
        };
        victim.unwrap_or(self.queue[0])
    }
    fn shrink(&mut self, size: usize, world: &World) {
        while self.queue.len() > size {
            let victim = self.victim(world);
            take(&mut self.queue, victim);
        }
    }
}

impl Naive for Window {
    fn access(&mut self, entry: u32, world: &World) -> bool {
        let hit = take(&mut self.queue, entry);
        if !hit {
            self.shrink(self.capacity - 1, world);
        }
        self.queue.push(entry);
        hit
    }
    fn remove(&mut self, entry: u32) {
        take(&mut self.queue, entry);
    }
    fn resize(&mut self, capacity: usize, world: &World) {
        self.capacity = capacity;
        self.shrink(capacity, world);
    }
    fn residents(&self) -> Vec<u32> {
        self.queue.clone()
    }
}
