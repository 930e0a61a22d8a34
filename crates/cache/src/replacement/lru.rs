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

/// The residents, the most recent in front.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    lists: Lists<1>,
    capacity: usize,
}

impl State {
    /// An empty cache of `capacity` entries.
    pub fn new(_policy: &Lru, capacity: usize) -> Self {
        Self {
            lists: Lists::new(),
            capacity,
        }
    }
    /// Evicts until `count` are resident or fewer.
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
    /// A resident is one whose last request is not older than that of the least recent: no list is
    /// needed, only the place of the last request of each entry, a bit for the places that are the
    /// last of their entry, and the place of the least recent.
    fn replay(mut self, requests: &Requests) -> Counts {
        if !self.is_empty() {
            return trace::one_by_one(&mut self, requests);
        }
        let mut last = vec![0; requests.footprint() as usize]; // one more than the place, zero: none
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
