//! Belady's MIN.

mod replay;

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Owner, Replace};
use crate::entry::Entry;
use crate::heap::Heap;
use crate::trace::{self, Counts, Requests};

/// Evicts the entry whose next request is farthest in the future. No policy that must insert every
/// requested entry has fewer misses, so the hits of this policy are an upper bound for the hits of
/// such policies. The policy is offline: it runs on traces only. Entries that are not requested
/// again, and all entries if the future is unknown, are evicted in LRU order. Writes count like
/// reads; write-backs are not minimised.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Belady {}

impl Cited for Belady {
    const PAPER: &'static str = "L. A. Belady, A study of replacement algorithms for a virtual-storage computer, \
                                 IBM Systems Journal 5(2), 1966";
}

/// Residents in the order of eviction: by their next request, the farthest first, then by their
/// last request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    heap: Heap<(Reverse<u32>, u64)>,
    capacity: usize,
    requests: u64,
    /// Position in the trace of the next request for the entry about to be accessed; `u32::MAX` if
    /// there is none.
    next: u32,
}

impl State {
    /// Creates an empty cache of `capacity` entries.
    pub fn new(_policy: &Belady, capacity: usize) -> Self {
        Self {
            heap: Heap::new(),
            capacity,
            requests: 0,
            next: u32::MAX,
        }
    }
    /// Evicts until at most `count` entries are resident.
    #[inline]
    fn shrink(&mut self, count: usize, owner: &mut impl Owner) {
        while self.heap.len() > count
            && let Some((_, entry)) = self.heap.pop()
        {
            owner.evicted(entry);
            owner.forgotten(entry);
        }
    }
}

impl Replace for State {
    #[inline]
    fn access(&mut self, entry: Entry, _write: bool, owner: &mut impl Owner) -> bool {
        let hit = self.heap.contains(entry);
        if !hit {
            self.shrink(self.capacity - 1, owner);
        }
        self.requests += 1;
        let next = std::mem::replace(&mut self.next, u32::MAX);
        self.heap.set(entry, (Reverse(next), self.requests));
        hit
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
    fn needs_next_use(&self) -> bool {
        true
    }
    fn set_next_use(&mut self, next: u32) {
        self.next = next;
    }
    fn replay(mut self, requests: &Requests) -> Counts {
        if !self.is_empty() {
            return trace::one_by_one(&mut self, requests);
        }
        replay::replay(self.capacity, requests)
    }
}
