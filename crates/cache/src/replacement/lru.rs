//! Least recently used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Owner, Replace};
use crate::entry::Entry;
use crate::list::Lists;
use crate::trace::{self, Bits, Counts, Evictions, Requests};

/// Evicts the least recently used entry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Lru {}

impl Cited for Lru {
    const PAPER: &'static str = "";
}

/// Residents, the most recent at the front.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    lists: Lists<1>,
    capacity: usize,
}

impl State {
    /// Creates an empty cache of `capacity` entries.
    pub fn new(_policy: &Lru, capacity: usize) -> Self {
        Self {
            lists: Lists::new(),
            capacity,
        }
    }
    /// Evicts until at most `count` entries are resident.
    #[inline]
    fn shrink(&mut self, count: usize, owner: &mut impl Owner) {
        while self.len() > count
            && let Some(last) = self.lists.pop_back(0)
        {
            owner.evicted(last);
            owner.forgotten(last);
        }
    }
}

impl Replace for State {
    #[inline]
    fn access(&mut self, entry: Entry, _write: bool, owner: &mut impl Owner) -> bool {
        if self.lists.contains(entry) {
            self.lists.move_to_front(0, entry);
            return true;
        }
        self.shrink(self.capacity - 1, owner);
        self.lists.push_front(0, entry);
        false
    }
    #[inline]
    fn contains(&self, entry: Entry) -> bool {
        self.lists.contains(entry)
    }
    fn len(&self) -> usize {
        self.lists.len(0)
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
        self.shrink(capacity, owner);
    }
    /// Runs the policy over a trace. An entry is resident if its last request is not older than
    /// that of the least recently used resident. No list is needed, only three kinds of state: the
    /// place of each entry's last request, one bit per place that is the last of its entry, and the
    /// place of the least recently used resident.
    fn replay(mut self, requests: &Requests) -> Counts {
        if !self.is_empty() {
            return trace::one_by_one(&mut self, requests);
        }
        let mut last = vec![0; requests.footprint() as usize]; // one more than the place; 0: none
        let mut live = Bits::with_capacity(requests.len() + 1);
        let (mut tail, mut vacant) = (1, self.capacity);
        let mut owner = Evictions::default();
        let hits = trace::each(requests, &mut owner, |place, entry, _, owner| {
            let before = std::mem::replace(&mut last[entry.index()], place as u32 + 1);
            live.remove(before as usize);
            live.insert(place + 1);
            let hit = before >= tail;
            if !hit && vacant > 0 {
                vacant -= 1;
            } else if !hit && let Some(least) = live.next(tail as usize) {
                owner.evicted(Entry(requests.numbers()[least - 1]));
                tail = least as u32 + 1;
            }
            hit
        });
        owner.counts(requests, hits)
    }
}
