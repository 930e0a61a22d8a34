//! CFLRU, clean-first least recently used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Owner;
use super::window::{Choose, Window, Windowed};
use crate::entry::Entry;

/// Evicts the least recently used clean entry of a window at the end of the LRU list. If all
/// entries in the window are dirty, it evicts the least recently used one. Evicting a clean entry
/// costs no write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cflru {
    /// Size of the window, relative to the capacity; rounded down, at least one entry. Published
    /// sweeps range from 1/64 to 1, and results improve up to 1/2. With 1/4, only recency counts in
    /// three quarters of the list.
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

/// Residents of the cache.
pub type State = Windowed<Cflru>;

impl Choose for Cflru {
    fn window_ratio(&self) -> f64 {
        self.window_ratio
    }
    /// Returns the least recently used clean entry of the window, or the tail if there is none.
    fn choose<O: Owner>(window: &mut Window, owner: &O) -> Option<Entry> {
        window.clean(owner, |_| true).or(window.tail())
    }
}
