//! 2Q, the full version.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Owner, Replace, share};
use crate::entry::Entry;
use crate::list::Lists;

/// A new entry enters a FIFO queue (A1in), where hits change nothing. After its eviction it stays
/// in a ghost queue (A1out) until newer ghosts displace it. A ghost that is requested again moves
/// to an LRU list (Am), which thus holds only entries that were requested again after their
/// eviction. Victims come from A1in while it is above its share, otherwise from the LRU list.
///
/// A requested ghost leaves A1out before an entry is evicted for it. The paper does not state
/// whether this eviction may push the ghost out of A1out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TwoQ {
    /// Size of A1in (Kin), relative to the capacity; rounded down, at least one entry.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub in_ratio: f64,
    /// Maximum size of A1out (Kout), relative to the capacity; rounded down, at least one entry.
    #[schemars(range(min = 0.0, max = 1e6))]
    pub out_ratio: f64,
}

impl Default for TwoQ {
    fn default() -> Self {
        Self {
            in_ratio: 0.25,
            out_ratio: 0.5,
        }
    }
}

impl Cited for TwoQ {
    const PAPER: &'static str = "T. Johnson and D. Shasha, 2Q: A low overhead high performance buffer management \
                                 replacement algorithm, VLDB 1994";
}

const A1_IN: usize = 0;
const A1_OUT: usize = 1;
const AM: usize = 2;

/// A1in, A1out and Am, the newest entry at the front.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    policy: TwoQ,
    lists: Lists<3>,
    capacity: usize,
    k_in: usize,
    k_out: usize,
}

impl State {
    /// Creates an empty cache of `capacity` entries.
    pub fn new(policy: &TwoQ, capacity: usize) -> Self {
        Self {
            policy: policy.clone(),
            lists: Lists::new(),
            capacity,
            k_in: share(capacity, policy.in_ratio),
            k_out: share(capacity, policy.out_ratio),
        }
    }
    /// Evicts until at most `count` entries are resident.
    #[inline]
    fn shrink(&mut self, count: usize, owner: &mut impl Owner) {
        while self.len() > count {
            if self.lists.len(A1_IN) > self.k_in || self.lists.is_empty(AM) {
                self.evict_from_a1_in(owner);
            } else {
                self.evict_from_am(owner);
            }
        }
    }
    #[inline]
    fn evict_from_a1_in(&mut self, owner: &mut impl Owner) {
        if let Some(oldest) = self.lists.pop_back(A1_IN) {
            owner.evicted(oldest);
            self.lists.push_front(A1_OUT, oldest);
            self.trim(owner);
        }
    }
    #[inline]
    fn evict_from_am(&mut self, owner: &mut impl Owner) {
        if let Some(last) = self.lists.pop_back(AM) {
            owner.evicted(last);
            owner.forgotten(last);
        }
    }
    /// Drops entries of A1out beyond its size, the oldest first.
    #[inline]
    fn trim(&mut self, owner: &mut impl Owner) {
        while self.lists.len(A1_OUT) > self.k_out
            && let Some(oldest) = self.lists.pop_back(A1_OUT)
        {
            owner.forgotten(oldest);
        }
    }
}

impl Replace for State {
    #[inline]
    fn access(&mut self, entry: Entry, _write: bool, owner: &mut impl Owner) -> bool {
        let list = match self.lists.list(entry) {
            None => A1_IN,
            Some(A1_OUT) => {
                self.lists.unlink(entry);
                AM
            }
            Some(list) => {
                if list == AM {
                    self.lists.move_to_front(AM, entry);
                }
                return true;
            }
        };
        self.shrink(self.capacity - 1, owner);
        self.lists.push_front(list, entry);
        false
    }
    #[inline]
    fn contains(&self, entry: Entry) -> bool {
        matches!(self.lists.list(entry), Some(A1_IN | AM))
    }
    fn remembers(&self, entry: Entry) -> bool {
        self.lists.list(entry) == Some(A1_OUT)
    }
    fn len(&self) -> usize {
        self.lists.len(A1_IN) + self.lists.len(AM)
    }
    fn capacity(&self) -> usize {
        self.capacity
    }
    fn remove(&mut self, entry: Entry, owner: &mut impl Owner) {
        if self.lists.contains(entry) {
            self.lists.unlink(entry);
            owner.forgotten(entry);
        }
    }
    fn resize(&mut self, capacity: usize, owner: &mut impl Owner) {
        self.capacity = capacity;
        self.k_in = share(capacity, self.policy.in_ratio);
        self.k_out = share(capacity, self.policy.out_ratio);
        self.shrink(capacity, owner);
        self.trim(owner);
    }
}
