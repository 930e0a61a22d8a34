//! GCaR-CFLRU: clean first, among entries whose die is not in GC.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Owner;
use super::window::{Choose, Window, Windowed};
use crate::entry::Entry;

/// CFLRU that keeps entries, clean and dirty, whose die is in garbage collection, because requests
/// for them would have to wait. From the window of the LRU list it evicts the least recently used
/// clean entry whose die is not in GC. If there is none, it evicts the least recently used dirty
/// entry whose die is not in GC. If the dies of all entries in the window are in GC, it evicts the
/// least recently used entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GcarCflru {
    /// Size of the window, relative to the capacity; rounded down, at least one entry. Published
    /// sweeps range from 1/64 to 1, and results improve up to 1/2. With 1/4, only recency counts in
    /// three quarters of the list.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub window_ratio: f64,
}

impl Default for GcarCflru {
    fn default() -> Self {
        Self { window_ratio: 0.25 }
    }
}

impl Cited for GcarCflru {
    const PAPER: &'static str = "S. Wu, Y. Lin, B. Mao and H. Jiang, GCaR: Garbage collection aware cache management with improved performance for flash-based SSDs, ICS 2016";
}

/// Residents of the cache.
pub type State = Windowed<GcarCflru>;

impl Choose for GcarCflru {
    fn window_ratio(&self) -> f64 {
        self.window_ratio
    }
    /// Returns the least recently used clean entry of the window whose die is not in GC. If there
    /// is none, returns the least recently used entry whose die is not in GC, otherwise the tail.
    fn choose<O: Owner>(window: &mut Window, owner: &O) -> Option<Entry> {
        let free = |entry: Entry| !owner.is_collecting(entry);
        let victim = window.clean(owner, free);
        let victim = victim.or_else(|| window.iter().find(|&entry| free(entry)));
        victim.or(window.tail())
    }
}
