//! 2Q, full version (Johnson and Shasha, VLDB 1994).

use super::naive::{Naive, World, take};

/// The queues begin with their oldest entry.
pub struct TwoQ {
    capacity: usize,
    in_ratio: f64,
    out_ratio: f64,
    a1in: Vec<u32>,
    a1out: Vec<u32>,
    am: Vec<u32>,
}

impl TwoQ {
    pub fn new(capacity: usize, in_ratio: f64, out_ratio: f64) -> Self {
        Self {
            capacity,
            in_ratio,
            out_ratio,
            a1in: Vec::new(),
            a1out: Vec::new(),
            am: Vec::new(),
        }
    }
    fn reclaim_for(&mut self, size: usize) {
        let part = |ratio: f64| ((self.capacity as f64 * ratio) as usize).max(1);
        let (k_in, k_out) = (part(self.in_ratio), part(self.out_ratio));
        while self.a1in.len() + self.am.len() > size {
            if self.a1in.len() > k_in || self.am.is_empty() {
                self.a1out.push(self.a1in.remove(0));
            } else {
                self.am.remove(0);
            }
        }
        while self.a1out.len() > k_out {
            self.a1out.remove(0);
        }
    }
}

impl Naive for TwoQ {
    fn access(&mut self, entry: u32, _: &World) -> bool {
        if take(&mut self.am, entry) {
            self.am.push(entry);
            return true;
        }
        if self.a1in.contains(&entry) {
            return true;
        }
        let known = take(&mut self.a1out, entry);
        self.reclaim_for(self.capacity - 1);
        if known { &mut self.am } else { &mut self.a1in }.push(entry);
        false
    }
    fn remove(&mut self, entry: u32) {
        for queue in [&mut self.a1in, &mut self.a1out, &mut self.am] {
            take(queue, entry);
        }
    }
    fn resize(&mut self, capacity: usize, _: &World) {
        self.capacity = capacity;
        self.reclaim_for(capacity);
    }
    fn residents(&self) -> Vec<u32> {
        [&self.a1in[..], &self.am].concat()
    }
    fn ghosts(&self) -> Vec<u32> {
        self.a1out.clone()
    }
}
