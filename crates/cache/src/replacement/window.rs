//! An LRU list with a window at its tail, and the policies that choose their victims there.
//!
//! The window is the part of the list that victims are chosen from. Residents at the tail that were
//! found dirty once stay so until they move, leave, or are said to be clean: they are not asked
//! again, so that looking for a clean one costs little however many are dirty.

use std::marker::PhantomData;

use serde::{Deserialize, Serialize};

use super::{Owner, Replace, share};
use crate::entry::Entry;
use crate::list::Lists;

/// The mark of an entry that was found dirty, as all between it and the tail.
const DIRTY: u8 = 1;

/// The residents, the most recent in front.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Window {
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
    /// A resident is clean now.
    fn cleaned(&mut self, entry: Entry) {
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

/// The rule of a policy that chooses in the window.
pub trait Choose: Clone {
    /// Entries of the window, relative to the capacity.
    fn window_ratio(&self) -> f64;
    /// Who leaves.
    fn choose<O: Owner>(window: &mut Window, owner: &O) -> Option<Entry>;
}

/// The residents of a cache under such a policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Windowed<P> {
    window: Window,
    policy: PhantomData<P>,
}

impl<P: Choose> Windowed<P> {
    /// An empty cache of `capacity` entries.
    pub fn new(policy: &P, capacity: usize) -> Self {
        Self {
            window: Window::new(policy.window_ratio(), capacity),
            policy: PhantomData,
        }
    }
    /// Evicts until `count` are resident or fewer.
    fn shrink(&mut self, count: usize, owner: &mut impl Owner) {
        while self.len() > count
            && let Some(victim) = P::choose(&mut self.window, owner)
        {
            self.window.unlink(victim);
            owner.evicted(victim);
            owner.forgotten(victim);
        }
    }
}

impl<P: Choose> Replace for Windowed<P> {
    #[inline]
    fn access(&mut self, entry: Entry, _write: bool, owner: &mut impl Owner) -> bool {
        let hit = self.contains(entry);
        if hit {
            self.window.unlink(entry);
        } else {
            self.shrink(self.window.capacity - 1, owner);
        }
        self.window.lists.push_front(0, entry);
        hit
    }
    #[inline]
    fn contains(&self, entry: Entry) -> bool {
        self.window.lists.contains(entry)
    }
    fn len(&self) -> usize {
        self.window.lists.len(0)
    }
    fn capacity(&self) -> usize {
        self.window.capacity
    }
    fn remove(&mut self, entry: Entry, owner: &mut impl Owner) {
        if self.contains(entry) {
            self.window.unlink(entry);
            owner.forgotten(entry);
        }
    }
    fn resize(&mut self, capacity: usize, owner: &mut impl Owner) {
        let window = &mut self.window;
        window.ask_again();
        window.capacity = capacity;
        window.size = share(capacity, window.ratio).min(capacity);
        self.shrink(capacity, owner);
    }
    fn cleaned(&mut self, entry: Entry) {
        self.window.cleaned(entry);
    }
}
