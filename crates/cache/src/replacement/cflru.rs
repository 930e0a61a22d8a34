//! Clean first, least recently used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Owner;
use super::window::{Choose, Window, Windowed};
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
pub type State = Windowed<Cflru>;

impl Choose for Cflru {
    fn window_ratio(&self) -> f64 {
        self.window_ratio
    }
    /// The least recent clean entry of the window, else the tail.
    fn choose<O: Owner>(window: &mut Window, owner: &O) -> Option<Entry> {
        window.clean(owner, |_| true).or(window.tail())
    }
}
