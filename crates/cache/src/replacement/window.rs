//! An LRU list with a window at its tail.
//!
//! The window is the part of the list that victims are chosen from. Residents at the tail that were
//! found dirty once stay so until they move, leave, or are said to be clean: they are not asked
//! again, so that looking for a clean one costs little however many are dirty.

use serde::{Deserialize, Serialize};

use super::{Owner, share};
use crate::entry::Entry;
use crate::list::Lists;

/// The mark of an entry that was found dirty, as all between it and the tail.
const DIRTY: u8 = 1;

/// The residents, the most recent in front.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Window {
    lists: Lists<1>,
    ratio: f64,
    capacity: usize,
    /// Entries of the window.
    size: usize,
    /// How many at the tail were found dirty, and the one farthest from it.
    dirty: usize,
    farthest: Option<Entry>,
}

impl Window {
    /// An empty list of `capacity` entries with a window of `ratio` of them.
    pub(super) fn new(ratio: f64, capacity: usize) -> Self {
        Self {
            lists: Lists::new(),
            ratio,
            capacity,
            size: share(capacity, ratio).min(capacity),
            dirty: 0,
            farthest: None,
        }
    }
    pub(super) fn len(&self) -> usize {
        self.lists.len(0)
    }
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }
    #[inline]
    pub(super) fn contains(&self, entry: Entry) -> bool {
        self.lists.contains(entry)
    }
    /// A request for an entry, for which the chosen resident leaves if there is no place for it.
    #[inline]
    pub(super) fn access<O: Owner>(
        &mut self,
        entry: Entry,
        owner: &mut O,
        choose: impl FnMut(&mut Self, &O) -> Option<Entry>,
    ) -> bool {
        let hit = self.contains(entry);
        if hit {
            self.unlink(entry);
        } else {
            self.shrink(self.capacity - 1, owner, choose);
        }
        self.lists.push_front(0, entry);
        hit
    }
    pub(super) fn remove(&mut self, entry: Entry, owner: &mut impl Owner) {
        if self.contains(entry) {
            self.unlink(entry);
            owner.forgotten(entry);
        }
    }
    pub(super) fn resize<O: Owner>(
        &mut self,
        capacity: usize,
        owner: &mut O,
        choose: impl FnMut(&mut Self, &O) -> Option<Entry>,
    ) {
        self.ask_again();
        self.capacity = capacity;
        self.size = share(capacity, self.ratio).min(capacity);
        self.shrink(capacity, owner, choose);
    }
    /// A resident is clean now.
    pub(super) fn cleaned(&mut self, entry: Entry) {
        if self.lists.mark(entry) == DIRTY {
            self.ask_again();
        }
    }
    /// The least recent of the window that is clean and passes a test.
    pub(super) fn clean(
        &mut self,
        owner: &impl Owner,
        passes: impl Fn(Entry) -> bool,
    ) -> Option<Entry> {
        let mut next = match self.farthest {
            Some(farthest) => self.lists.toward_front(farthest),
            None => self.lists.back(0),
        };
        for place in self.dirty..self.size {
            let entry = next?;
            if !owner.is_dirty(entry) {
                if passes(entry) {
                    return Some(entry);
                }
            } else if place == self.dirty {
                self.lists.set_mark(entry, DIRTY);
                self.farthest = Some(entry);
                self.dirty += 1;
            }
            next = self.lists.toward_front(entry);
        }
        None
    }
    /// The window, the least recent first.
    pub(super) fn iter(&self) -> impl Iterator<Item = Entry> {
        self.lists.from_back(0).take(self.size)
    }
    /// The least recent of all.
    pub(super) fn tail(&self) -> Option<Entry> {
        self.lists.back(0)
    }

    /// Evicts until `count` are resident or fewer.
    fn shrink<O: Owner>(
        &mut self,
        count: usize,
        owner: &mut O,
        mut choose: impl FnMut(&mut Self, &O) -> Option<Entry>,
    ) {
        while self.len() > count
            && let Some(victim) = choose(self, owner)
        {
            self.unlink(victim);
            owner.evicted(victim);
            owner.forgotten(victim);
        }
    }
    fn unlink(&mut self, entry: Entry) {
        if self.lists.mark(entry) == DIRTY {
            self.lists.set_mark(entry, 0);
            self.dirty -= 1;
            if self.farthest == Some(entry) {
                self.farthest = self.lists.toward_back(entry);
            }
        }
        self.lists.unlink(entry);
    }
    /// Takes nobody for dirty.
    fn ask_again(&mut self) {
        while let Some(entry) = self.farthest {
            self.lists.set_mark(entry, 0);
            self.farthest = self.lists.toward_back(entry);
        }
        self.dirty = 0;
    }
}
