//! LRU list with a window at its tail, and policies that choose their victims in the window.
//!
//! The window is the part of the list from which victims are chosen. Residents at the tail that
//! were found dirty count as dirty until they move, leave or are cleaned. The owner is not queried
//! about them again, so that the search for a clean entry is cheap even with many dirty ones.

use std::marker::PhantomData;

use serde::{Deserialize, Serialize};

use super::{Owner, Replace, share};
use crate::entry::Entry;
use crate::list::Lists;

/// Mark of a resident that was found dirty. All residents between it and the tail have the mark
/// too.
const DIRTY: u8 = 1;

/// LRU list of the residents, the most recently used at the front.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Window {
    lists: Lists<1>,
    ratio: f64,
    capacity: usize,
    /// Size of the window. Entries.
    size: usize,
    /// Number of residents at the tail that have the mark [`DIRTY`].
    dirty: usize,
    /// Resident with the mark [`DIRTY`] that is farthest from the tail.
    farthest: Option<Entry>,
}

impl Window {
    /// Creates an empty list for up to `capacity` entries, with a window of `ratio` times the
    /// capacity.
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
    /// Handles the write-back of a resident.
    fn cleaned(&mut self, entry: Entry) {
        if self.lists.mark(entry) == DIRTY {
            self.ask_again();
        }
    }
    /// Returns the least recently used clean entry of the window for which `passes` is `true`;
    /// `None` if there is none.
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
    /// Iterates over the window, the least recently used entry first.
    pub(super) fn iter(&self) -> impl Iterator<Item = Entry> {
        self.lists.from_back(0).take(self.size)
    }
    /// Returns the least recently used entry of the list; `None` if the list is empty.
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
    /// Clears all marks, so that the owner is queried again.
    fn ask_again(&mut self) {
        while let Some(entry) = self.farthest {
            self.lists.set_mark(entry, 0);
            self.farthest = self.lists.toward_back(entry);
        }
        self.dirty = 0;
    }
}

/// Policy that chooses its victims in the window.
pub trait Choose: Clone {
    /// Returns the size of the window, relative to the capacity.
    fn window_ratio(&self) -> f64;
    /// Returns the victim; `None` if the list is empty.
    fn choose<O: Owner>(window: &mut Window, owner: &O) -> Option<Entry>;
}

/// Residents of a cache under a policy with a window.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Windowed<P> {
    window: Window,
    policy: PhantomData<P>,
}

impl<P: Choose> Windowed<P> {
    /// Creates an empty cache of `capacity` entries.
    pub fn new(policy: &P, capacity: usize) -> Self {
        Self {
            window: Window::new(policy.window_ratio(), capacity),
            policy: PhantomData,
        }
    }
    /// Evicts until at most `count` entries are resident.
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
