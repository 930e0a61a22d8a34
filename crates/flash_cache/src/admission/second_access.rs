//! Admission of pages that are missed a second time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_cache::replacement::lru::{Lru, State as Recent};
use wordline_cache::{Entry, Index, Owner, Replace};
use wordline_kernel::slot::Cited;

use super::Admit;

/// Admits a page that was missed before and is still remembered: a page that is requested only once
/// is not worth a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SecondAccess {
    /// Number of recently missed pages to remember, relative to the capacity of the cache. Ratio,
    /// above 0 up to 16.
    #[schemars(range(min = 0.000_001, max = 16))]
    pub memory_ratio: f64,
}

impl Default for SecondAccess {
    fn default() -> Self {
        Self { memory_ratio: 1.0 }
    }
}

impl Cited for SecondAccess {
    const PAPER: &'static str = "";
}

/// Recently missed pages that have not been admitted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    index: Index,
    recent: Recent,
}

/// Frees the index entries of pages that are no longer remembered.
struct Numbers<'a>(&'a mut Index);

impl Owner for Numbers<'_> {
    fn forgotten(&mut self, entry: Entry) {
        self.0.free(entry);
    }
}

impl State {
    pub(super) fn new(policy: &SecondAccess, capacity: usize) -> Self {
        let most = (capacity as f64 * policy.memory_ratio) as usize;
        Self {
            index: Index::default(),
            recent: Recent::new(&Lru::default(), most.max(1)),
        }
    }
}

impl Admit for State {
    fn admits(&mut self, page: u64) -> bool {
        if let Some(entry) = self.index.get(page) {
            self.recent.remove(entry, &mut Numbers(&mut self.index));
            return true;
        }
        if let Ok(entry) = self.index.enter(page) {
            self.recent
                .access(entry, false, &mut Numbers(&mut self.index));
        }
        false
    }
}
