//! Least recently used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Owner, Replace};
use crate::entry::Entry;
use crate::list::Lists;
use crate::trace::{self, Counts, Evictions, Requests};

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
    /// that of the least recently used resident. No list is needed, only the place of each entry's
    /// last request and that of the least recently used resident. The next one is the first place
    /// after it that is the last of its entry.
    fn replay(mut self, requests: &Requests) -> Counts {
        if !self.is_empty() {
            return trace::one_by_one(&mut self, requests);
        }
        let mut last = vec![0; requests.footprint() as usize]; // one more than the place; 0: none
        let numbers = requests.numbers();
        let (mut tail, mut vacant) = (1, self.capacity);
        let mut owner = Evictions::default();
        let hits = trace::each(requests, &mut owner, |place, entry, _, owner| {
            requests.prefetch(&last, place);
            let before = std::mem::replace(&mut last[entry.index()], place as u32 + 1);
            let hit = before >= tail;
            if !hit && vacant > 0 {
                vacant -= 1;
            } else if !hit {
                let mut least = tail as usize - 1;
                while last[numbers[least] as usize] != least as u32 + 1 {
                    requests.prefetch(&last, least);
                    least += 1;
                }
                owner.evicted(Entry(numbers[least]));
                tail = least as u32 + 2;
            }
            hit
        });
        owner.counts(requests, hits)
    }
}
