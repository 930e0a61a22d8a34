//! LFU, least frequently used.

mod replay;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Owner, Replace};
use crate::entry::Entry;
use crate::heap::Heap;
use crate::trace::{self, Counts, Requests};

/// Evicts the entry with the fewest requests since its insertion. If several entries have the
/// fewest, it evicts the least recently used of them. The count of an entry ends with its eviction
/// (in-cache LFU), so evicted entries have no state. With `aging` the policy is LFU-DA: the rank of
/// an entry is its count plus the rank of the entry that was evicted last before its latest
/// request. Formerly popular entries are then evicted eventually.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Lfu {
    /// Whether the rank of an entry is its count plus the rank of the entry that was evicted last
    /// before its latest request (dynamic aging).
    pub aging: bool,
}

impl Cited for Lfu {
    const PAPER: &'static str = "M. Arlitt et al., Evaluating content management techniques for Web proxy \
                                 caches, Performance Evaluation Review 27(4), 2000 (aging)";
}

/// Rank of an entry; the lowest is evicted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Rank {
    /// Count of requests, plus the age of the cache at the last request if aging is on.
    aged: u64,
    /// Number of the last request, which makes all ranks different.
    last: u64,
    /// Requests for the entry. Count.
    count: u64,
}

/// Residents by rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    policy: Lfu,
    heap: Heap<Rank>,
    capacity: usize,
    requests: u64,
    /// Rank of the entry evicted last; 0 without aging.
    age: u64,
}

impl State {
    /// Creates an empty cache of `capacity` entries.
    pub fn new(policy: &Lfu, capacity: usize) -> Self {
        Self {
            policy: policy.clone(),
            heap: Heap::new(),
            capacity,
            requests: 0,
            age: 0,
        }
    }
    /// Evicts until at most `count` entries are resident.
    #[inline]
    fn shrink(&mut self, count: usize, owner: &mut impl Owner) {
        while self.heap.len() > count
            && let Some((rank, entry)) = self.heap.pop()
        {
            if self.policy.aging {
                self.age = rank.aged;
            }
            owner.evicted(entry);
            owner.forgotten(entry);
        }
    }
}

impl Replace for State {
    #[inline]
    fn access(&mut self, entry: Entry, _write: bool, owner: &mut impl Owner) -> bool {
        let before = self.heap.key(entry).map(|rank| rank.count);
        if before.is_none() {
            self.shrink(self.capacity - 1, owner);
        }
        let count = before.unwrap_or(0) + 1;
        self.requests += 1;
        let rank = Rank {
            aged: count + self.age,
            last: self.requests,
            count,
        };
        self.heap.set(entry, rank);
        before.is_some()
    }
    #[inline]
    fn contains(&self, entry: Entry) -> bool {
        self.heap.contains(entry)
    }
    fn len(&self) -> usize {
        self.heap.len()
    }
    fn capacity(&self) -> usize {
        self.capacity
    }
    fn remove(&mut self, entry: Entry, owner: &mut impl Owner) {
        if self.heap.remove(entry) {
            owner.forgotten(entry);
        }
    }
    fn resize(&mut self, capacity: usize, owner: &mut impl Owner) {
        self.capacity = capacity;
        self.shrink(capacity, owner);
    }
    fn replay(mut self, requests: &Requests) -> Counts {
        let empty = self.is_empty() && self.age == 0;
        let counts = empty.then(|| replay::replay(self.policy.aging, self.capacity, requests));
        counts.unwrap_or_else(|| trace::one_by_one(&mut self, requests))
    }
}
