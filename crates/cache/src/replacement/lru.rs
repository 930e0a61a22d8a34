//! Least recently used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Entry, Owner, Replace};
use crate::list::Lists;

/// The entry that has not been asked for the longest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Lru {}

impl Cited for Lru {
    const PAPER: &'static str = "";
}

/// The residents, the most recent in front.
#[derive(Clone, Debug)]
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
}
