//! SIEVE: a FIFO queue with a hand that skips entries that were hit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Owner, Replace};
use crate::entry::Entry;
use crate::list::Lists;

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
}
