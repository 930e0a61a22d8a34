//! Clock: first in, first out with a second chance.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Owner, Replace};
use crate::entry::Entry;
use crate::list::Lists;
use crate::trace::{self, Counts, Requests};

/// Evicts entries in the order of insertion, but gives those that were hit a second chance. A hit
/// sets the reference bit of an entry, which is clear on insertion. The hand clears set bits and
/// evicts the first entry whose bit is clear. A new entry is inserted directly behind the hand.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Clock {}

impl Cited for Clock {
    const PAPER: &'static str =
        "F. J. Corbató, A paging experiment with the Multics system, MIT Project MAC, 1968";
}

/// Residents in the order in which the hand visits them, the next one at the back. The mark is the
/// reference bit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    lists: Lists<1>,
    capacity: usize,
}

impl State {
    /// Creates an empty cache of `capacity` entries.
    pub fn new(_policy: &Clock, capacity: usize) -> Self {
        Self {
            lists: Lists::new(),
            capacity,
        }
    }
    /// Evicts until at most `count` entries are resident.
    #[inline]
    fn shrink(&mut self, count: usize, owner: &mut impl Owner) {
        while self.len() > count
            && let Some(next) = self.lists.pop_back(0)
        {
            if self.lists.mark(next) == 1 {
                self.lists.set_mark(next, 0);
                self.lists.push_front(0, next);
            } else {
                owner.evicted(next);
                owner.forgotten(next);
            }
        }
    }
}

impl Replace for State {
    #[inline]
    fn access(&mut self, entry: Entry, _write: bool, owner: &mut impl Owner) -> bool {
        if self.lists.contains(entry) {
            self.lists.set_mark(entry, 1);
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
            self.lists.set_mark(entry, 0);
            owner.forgotten(entry);
        }
    }
    fn resize(&mut self, capacity: usize, owner: &mut impl Owner) {
        self.capacity = capacity;
        self.shrink(capacity, owner);
    }
    /// Runs the policy over a trace. A new entry takes the place of its victim, so the residents
    /// are a ring of fixed places, without links.
    fn replay(mut self, requests: &Requests) -> Counts {
        const ABSENT: u8 = 0;
        const CLEAR: u8 = 1;
        const REFERENCED: u8 = 2;
        if !self.is_empty() {
            return trace::one_by_one(&mut self, requests);
        }
        let mut states = vec![ABSENT; requests.footprint() as usize];
        let mut ring: Vec<Entry> = Vec::new();
        let (capacity, mut hand) = (self.capacity, 0);
        trace::counted(requests, |_, entry, owner| {
            if states[entry.index()] != ABSENT {
                states[entry.index()] = REFERENCED;
                return true;
            }
            states[entry.index()] = CLEAR;
            if ring.len() < capacity {
                ring.push(entry);
                return false;
            }
            while states[ring[hand].index()] == REFERENCED {
                states[ring[hand].index()] = CLEAR;
                hand = if hand + 1 == capacity { 0 } else { hand + 1 };
            }
            let victim = std::mem::replace(&mut ring[hand], entry);
            hand = if hand + 1 == capacity { 0 } else { hand + 1 };
            states[victim.index()] = ABSENT;
            owner.evicted(victim);
            false
        })
    }
}
