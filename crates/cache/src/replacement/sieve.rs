//! SIEVE: a FIFO queue with a hand that skips entries that were hit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Owner, Replace};
use crate::entry::Entry;
use crate::list::Lists;
use crate::trace::{self, Counts, Requests};

/// A hand moves from the oldest entry to the newest and evicts the first entry that has not been
/// hit since the hand's last visit. Hit entries stay in place, so that new entries are examined
/// soon and popular entries gather behind the hand. A hit sets a bit and moves nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sieve {}

impl Cited for Sieve {
    const PAPER: &'static str = "Y. Zhang et al., SIEVE is simpler than LRU: An efficient turn-key eviction \
                                 algorithm for web caches, NSDI 2024";
}

/// Residents, the newest at the front. The mark of an entry is 1 if it has been hit since the
/// hand's last visit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    lists: Lists<1>,
    /// Start of the next search; `None` for the oldest entry.
    hand: Option<Entry>,
    capacity: usize,
}

impl State {
    /// Creates an empty cache of `capacity` entries.
    pub fn new(_policy: &Sieve, capacity: usize) -> Self {
        Self {
            lists: Lists::new(),
            hand: None,
            capacity,
        }
    }
    /// Evicts until at most `count` entries are resident.
    #[inline]
    fn shrink(&mut self, count: usize, owner: &mut impl Owner) {
        while self.len() > count
            && let Some(oldest) = self.lists.back(0)
        {
            let mut victim = self.hand.unwrap_or(oldest);
            while self.lists.mark(victim) != 0 {
                self.lists.set_mark(victim, 0);
                victim = self.lists.toward_front(victim).unwrap_or(oldest);
            }
            self.pass(victim);
            self.lists.unlink(victim);
            owner.evicted(victim);
            owner.forgotten(victim);
        }
    }
    /// Moves the hand past a resident, to the next newer one.
    #[inline]
    fn pass(&mut self, entry: Entry) {
        self.hand = self.lists.toward_front(entry);
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
        self.lists.set_mark(entry, 0);
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
        if !self.lists.contains(entry) {
            return;
        }
        if self.hand == Some(entry) {
            self.pass(entry);
        }
        self.lists.unlink(entry);
        owner.forgotten(entry);
    }
    fn resize(&mut self, capacity: usize, owner: &mut impl Owner) {
        self.capacity = capacity;
        self.shrink(capacity, owner);
    }
    /// Runs the policy over a trace. The residents are a sequence in the order of insertion. As the
    /// hand passes them, those that stay move to the start of the sequence, over the evicted ones.
    fn replay(mut self, requests: &Requests) -> Counts {
        if !self.is_empty() {
            return trace::one_by_one(&mut self, requests);
        }
        let mut queue = Queue {
            entries: Vec::new(),
            passed: 0,
            hand: 0,
            states: vec![ABSENT; requests.footprint() as usize],
        };
        let capacity = self.capacity;
        trace::counted(requests, |_, entry, owner| {
            let state = &mut queue.states[entry.index()];
            if *state != ABSENT {
                *state = HIT;
                return true;
            }
            *state = CLEAR;
            if queue.len() == capacity {
                owner.evicted(queue.evict(capacity));
            }
            queue.entries.push(entry);
            false
        })
    }
}

/// State of an entry that is not resident.
const ABSENT: u8 = 0;
/// State of a resident without a hit since the hand's last visit.
const CLEAR: u8 = 1;
/// State of a resident with a hit since the hand's last visit.
const HIT: u8 = 2;

/// Residents of a replay.
struct Queue {
    /// Residents in the order of insertion: `..passed`, which the hand has passed, then `hand..`.
    entries: Vec<Entry>,
    passed: usize,
    /// Place of the resident that the hand visits next.
    hand: usize,
    /// State of each entry.
    states: Vec<u8>,
}

impl Queue {
    fn len(&self) -> usize {
        self.passed + self.entries.len() - self.hand
    }
    /// Moves the hand from the newest resident to the oldest.
    fn wrap(&mut self) {
        self.entries.truncate(self.passed);
        (self.passed, self.hand) = (0, 0);
    }
    /// Removes and returns the victim. There is at least one resident.
    #[inline]
    fn evict(&mut self, capacity: usize) -> Entry {
        let victim = loop {
            if self.hand == self.entries.len() {
                self.wrap();
            }
            let entry = self.entries[self.hand];
            self.hand += 1;
            let state = &mut self.states[entry.index()];
            if *state != HIT {
                *state = ABSENT;
                break entry;
            }
            *state = CLEAR;
            self.entries[self.passed] = entry;
            self.passed += 1;
        };
        if self.hand == self.entries.len() {
            self.wrap();
        } else if self.hand - self.passed > capacity {
            self.entries.drain(self.passed..self.hand);
            self.hand = self.passed;
        }
        victim
    }
}
