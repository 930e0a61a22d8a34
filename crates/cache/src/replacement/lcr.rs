//! LCR, load-aware cache replacement.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Owner;
use super::window::{Choose, Window, Windowed};
use crate::entry::Entry;

/// Evicts the least recently used clean entry of a window at the end of the LRU list. If all
/// entries in the window are dirty, it evicts the one whose die has the smallest load, because the
/// write-back of that entry delays other requests least. Among equal loads, it evicts the least
/// recently used entry. Loads are read at the time of the eviction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Lcr {
    /// Size of the window, relative to the capacity; rounded down, at least one entry. Published
    /// sweeps range from 1/64 to 1, and results improve up to 1/2. With 1/4, only recency counts in
    /// three quarters of the list.
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

/// Residents of the cache.
pub type State = Windowed<Lcr>;

impl Choose for Lcr {
    fn window_ratio(&self) -> f64 {
        self.window_ratio
    }
    /// Returns the least recently used clean entry of the window, otherwise the least recently used
    /// of the entries with the smallest load.
    fn choose<O: Owner>(window: &mut Window, owner: &O) -> Option<Entry> {
        let clean = window.clean(owner, |_| true);
        clean.or_else(|| least_loaded(window, owner))
    }
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
