//! Unbounded cache.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Owner, Replace};
use crate::entry::Entry;

/// Never evicts, whatever the capacity: only the first request for a key misses. The hits are an
/// upper bound for those of other policies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Unbounded {}

impl Cited for Unbounded {
    const PAPER: &'static str = "";
}

/// Residents of the cache.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    resident: Vec<bool>,
    count: usize,
}

impl State {
    /// Creates an empty cache for `usize::MAX` entries. `_capacity` is ignored.
    pub fn new(_policy: &Unbounded, _capacity: usize) -> Self {
        Self {
            resident: Vec::new(),
            count: 0,
        }
    }
}

impl Replace for State {
    #[inline]
    fn access(&mut self, entry: Entry, _write: bool, _owner: &mut impl Owner) -> bool {
        if self.resident.len() <= entry.index() {
            self.resident.resize(entry.index() + 1, false);
        }
        let hit = std::mem::replace(&mut self.resident[entry.index()], true);
        self.count += usize::from(!hit);
        hit
    }
    #[inline]
    fn contains(&self, entry: Entry) -> bool {
        self.resident.get(entry.index()).copied().unwrap_or(false)
    }
    fn len(&self) -> usize {
        self.count
    }
    fn capacity(&self) -> usize {
        usize::MAX
    }
    fn remove(&mut self, entry: Entry, owner: &mut impl Owner) {
        if self.contains(entry) {
            self.resident[entry.index()] = false;
            self.count -= 1;
            owner.forgotten(entry);
        }
    }
    fn resize(&mut self, _capacity: usize, _owner: &mut impl Owner) {}
}
