//! Load-aware cache replacement.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::window::Window;
use super::{Owner, Replace};
use crate::entry::Entry;

/// Evicts the least recently used clean entry of a window at the end of the LRU list; if all are
/// dirty, the one whose chip has the smallest load, of equal ones the least recently used: its
/// write-back delays others least. The load is taken at the time of the eviction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Lcr {
    /// Entries of the window, relative to the capacity; rounded down, at least one. Published sweeps
    /// reach from 1/64 to 1 and improve up to a half; a quarter leaves most of the cache to recency.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub window_ratio: f64,
}

impl Default for Lcr {
    fn default() -> Self {
        Self { window_ratio: 0.25 }
    }
}

impl Cited for Lcr {
    const PAPER: &'static str = "C. Liu, M. Lv, Y. Pan, H. Chen, Y. Li, C. Li and Y. Xu, LCR: Load-aware cache replacement algorithm for flash-based SSDs, NAS 2018";
}

/// The residents.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State(Window);

impl State {
    /// An empty cache of `capacity` entries.
    pub fn new(policy: &Lcr, capacity: usize) -> Self {
        Self(Window::new(policy.window_ratio, capacity))
    }
}

/// The least recent clean entry of the window, else the least recent of those with the smallest
/// load.
fn choose<O: Owner>(window: &mut Window, owner: &O) -> Option<Entry> {
    let clean = window.clean(owner, |_| true);
    clean.or_else(|| least_loaded(window, owner))
}

fn least_loaded(window: &Window, owner: &impl Owner) -> Option<Entry> {
    let bound = owner.least_load();
    let mut least: Option<(u64, Entry)> = None;
    for entry in window.iter() {
        let load = owner.load(entry);
        if least.is_none_or(|(smallest, _)| load < smallest) {
            least = Some((load, entry));
        }
        if load <= bound {
            break;
        }
    }
    least.map(|(_, entry)| entry)
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
