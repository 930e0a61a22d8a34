//! ARC (Megiddo and Modha, FAST 2003, figure 4).

use super::naive::{Naive, World, take};

pub struct Arc {
    capacity: usize,
    integer: bool,
    p: f64,
    /// The oldest entry is first in each list.
    t1: Vec<u32>,
    t2: Vec<u32>,
    b1: Vec<u32>,
    b2: Vec<u32>,
}

impl Arc {
    pub fn new(capacity: usize, integer: bool) -> Self {
        let (p, t1, t2, b1, b2) = Default::default();
        Self {
            capacity,
            integer,
            p,
            t1,
            t2,
            b1,
            b2,
        }
    }
    /// Returns the step of `p` at a hit in a ghost list of `hit` entries; the other ghost list has
    /// `other` entries.
    fn delta(&self, hit: usize, other: usize) -> f64 {
        if hit >= other {
            1.0
        } else if self.integer {
            (other / hit) as f64
        } else {
            other as f64 / hit as f64
        }
    }
    fn replace(&mut self, in_b2: bool) {
        let t1 = self.t1.len() as f64;
        if self.t2.is_empty() || t1 >= 1.0 && (t1 > self.p || in_b2 && t1 == self.p) {
            self.b1.push(self.t1.remove(0));
        } else {
            self.b2.push(self.t2.remove(0));
        }
    }
    fn is_full(&self) -> bool {
        self.t1.len() + self.t2.len() == self.capacity
    }
}

impl Naive for Arc {
    fn access(&mut self, entry: u32, _: &World) -> bool {
        let c = self.capacity;
        let (b1, b2) = (self.b1.len(), self.b2.len());
        // Case I
        if take(&mut self.t1, entry) || take(&mut self.t2, entry) {
            self.t2.push(entry);
            return true;
        }
        // Cases II and III
        let (in_b1, in_b2) = (self.b1.contains(&entry), self.b2.contains(&entry));
        if in_b1 || in_b2 {
            self.p = if in_b1 {
                (self.p + self.delta(b1, b2)).min(c as f64)
            } else {
                (self.p - self.delta(b2, b1)).max(0.0)
            };
            if self.is_full() {
                self.replace(in_b2);
            }
            take(&mut self.b1, entry);
            take(&mut self.b2, entry);
            self.t2.push(entry);
            return false;
        }
        // Case IV
        let l1 = self.t1.len() + self.b1.len();
        let all = l1 + self.t2.len() + self.b2.len();
        if self.t1.len() == c {
            self.t1.remove(0);
        } else {
            if l1 == c {
                self.b1.remove(0);
            } else if all == 2 * c {
                self.b2.remove(0);
            }
            if self.is_full() {
                self.replace(false);
            }
        }
        self.t1.push(entry);
        false
    }
    fn remove(&mut self, entry: u32) {
        for list in [&mut self.t1, &mut self.t2, &mut self.b1, &mut self.b2] {
            take(list, entry);
        }
    }
    /// The paper does not define a change of capacity; see the description of the policy.
    fn resize(&mut self, capacity: usize, _: &World) {
        self.capacity = capacity;
        while self.t1.len() + self.t2.len() > capacity {
            self.replace(false);
        }
        self.p = self.p.min(capacity as f64);
        while self.t1.len() + self.b1.len() > capacity {
            self.b1.remove(0);
        }
        while self.residents().len() + self.ghosts().len() > 2 * capacity {
            self.b2.remove(0);
        }
    }
    fn residents(&self) -> Vec<u32> {
        [&self.t1[..], &self.t2].concat()
    }
    fn ghosts(&self) -> Vec<u32> {
        [&self.b1[..], &self.b2].concat()
    }
}
