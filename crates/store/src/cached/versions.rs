//! For verification: which version of each page the store below and the flash hold.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use wordline_ftl::Lpn;

/// Versions of pages, counted by their writes; 0 before the first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Versions {
    /// By page of the store below, of those that were written.
    below: FxHashMap<u64, u32>,
    /// By logical page of the flash.
    flash: Vec<u32>,
    checked: u64,
}

impl Versions {
    /// What the store below holds.
    pub fn below(&self, page: u64) -> u32 {
        self.below.get(&page).copied().unwrap_or_default()
    }
    /// A write of a page has completed below.
    pub fn written(&mut self, page: u64) {
        *self.below.entry(page).or_default() += 1;
    }
    /// What was read of `page` goes to the flash, or what is written next to both.
    pub fn filled(&mut self, copy: Lpn, version: u32) {
        if self.flash.len() <= copy.index() {
            self.flash.resize(copy.index() + 1, 0);
        }
        self.flash[copy.index()] = version;
    }
    /// A page is served from flash: what it holds and what it has to hold, if they differ.
    pub fn check(&mut self, page: u64, copy: Lpn) -> Result<(), (u32, u32)> {
        self.checked += 1;
        let (found, written) = (self.flash[copy.index()], self.below(page));
        if found == written {
            return Ok(());
        }
        Err((found, written))
    }
    /// Pages served from flash that were compared.
    pub fn checked(&self) -> u64 {
        self.checked
    }
}
