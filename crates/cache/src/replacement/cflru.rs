//! Clean first, least recently used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::window::Window;
use super::{Owner, Replace};
use crate::entry::Entry;

/// The least recently used clean entry of a window at the end of the LRU list; if all in the window
/// are dirty, the least recently used of all. Evicting a clean entry costs no write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cflru {
    /// Entries of the window, relative to the capacity; rounded down, at least one. Published sweeps
    /// reach from 1/64 to 1 and improve up to a half; a quarter leaves most of the cache to recency.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub window_ratio: f64,
}

impl Default for Cflru {
    fn default() -> Self {
        Self { window_ratio: 0.25 }
    }
}

impl Cited for Cflru {
    const PAPER: &'static str = "S. Park, D. Jung, J. Kang, J. Kim and J. Lee, CFLRU: A replacement algorithm for flash memory, CASES 2006";
}

/// The residents.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State(Window);

impl State {
    /// An empty cache of `capacity` entries.
    pub fn new(policy: &Cflru, capacity: usize) -> Self {
        Self(Window::new(policy.window_ratio, capacity))
    }
}

/// The least recent clean entry of the window, else the tail.
fn choose<O: Owner>(window: &mut Window, owner: &O) -> Option<Entry> {
    window.clean(owner, |_| true).or(window.tail())
}

impl Replace for State {
    #[inline]
    fn access(&mut self, entry: Entry, _write: bool, owner: &mut impl Owner) -> bool {
        self.0.access(entry, owner, choose)
    }
    #[inline]
    fn contains(&self, entry: Entry) -> bool {
        self.0.contains(entry)
    }
    fn len(&self) -> usize {
        self.0.len()
    }
    fn capacity(&self) -> usize {
        self.0.capacity()
    }
    fn remove(&mut self, entry: Entry, owner: &mut impl Owner) {
        self.0.remove(entry, owner);
    }
    fn resize(&mut self, capacity: usize, owner: &mut impl Owner) {
        self.0.resize(capacity, owner, choose);
    }
    fn cleaned(&mut self, entry: Entry) {
        self.0.cleaned(entry);
    }
}
