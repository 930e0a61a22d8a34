//! For verification: which version of each page the store below and the flash hold, and which the host has written.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use wordline_ftl::Lpn;

use super::event::CachedError;

/// Versions of pages, counted by their writes; 0 before the first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Versions {
    /// By page: what the store below holds, and what a read has to return. Of pages that were written.
    written: FxHashMap<u64, Written>,
    /// By logical page of the flash.
    flash: Vec<u32>,
    checked: u64,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Written {
    below: u32,
    latest: u32,
}

/// A version that was served and is not the latest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stale {
    page: u64,
    tier: &'static str,
    found: u32,
    written: u32,
}

impl<E> From<Stale> for CachedError<E> {
    fn from(stale: Stale) -> Self {
        let Stale {
            page,
            tier,
            found,
            written,
        } = stale;
        Self::Stale {
            page,
            tier,
            found,
            written,
        }
    }
}

impl Versions {
    /// What the store below holds.
    pub fn below(&self, page: u64) -> u32 {
        self.written.get(&page).map_or(0, |written| written.below)
    }
    /// What a read of a page has to return.
    pub fn latest(&self, page: u64) -> u32 {
        self.written.get(&page).map_or(0, |written| written.latest)
    }
    /// A write of a page has completed below.
    pub fn written_below(&mut self, page: u64) {
        let written = self.written.entry(page).or_default();
        written.latest += 1;
        written.below = written.latest;
    }
    /// A write of a page has completed in flash.
    pub fn written_in_flash(&mut self, page: u64, copy: Lpn) {
        let written = self.written.entry(page).or_default();
        written.latest += 1;
        let latest = written.latest;
        self.put(copy, latest);
    }
    /// The flash holds a version of a page.
    pub fn put(&mut self, copy: Lpn, version: u32) {
        if self.flash.len() <= copy.index() {
            self.flash.resize(copy.index() + 1, 0);
        }
        self.flash[copy.index()] = version;
    }
    /// The store below has what the flash holds of a page.
    pub fn destaged(&mut self, page: u64, copy: Lpn) {
        let version = self.flash[copy.index()];
        self.written.entry(page).or_default().below = version;
    }
    /// The power has failed: of every page there is what the store below holds.
    pub fn cut(&mut self) {
        self.flash.clear();
        for written in self.written.values_mut() {
            written.latest = written.below;
        }
    }
    /// A page is served from flash.
    pub fn check_flash(&mut self, page: u64, copy: Lpn) -> Result<(), Stale> {
        let found = self.flash[copy.index()];
        self.check(page, "flash", found)
    }
    /// A page is served from below.
    pub fn check_below(&mut self, page: u64) -> Result<(), Stale> {
        let found = self.below(page);
        self.check(page, "the store below", found)
    }
    fn check(&mut self, page: u64, tier: &'static str, found: u32) -> Result<(), Stale> {
        self.checked += 1;
        let written = self.latest(page);
        if found == written {
            return Ok(());
        }
        Err(Stale {
            page,
            tier,
            found,
            written,
        })
    }
    /// Pages served that were compared.
    pub fn checked(&self) -> u64 {
        self.checked
    }
}
