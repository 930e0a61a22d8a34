//! For verification: which version of each page the store below and the flash hold, and which the host has written.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use wordline_ftl::Lpn;

use super::event::CachedError;

/// Versions of pages: the numbers of their writes; 0 before the first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Versions {
    /// By page: what the store below holds, and what a read has to return. Of pages that were written.
    written: FxHashMap<u64, Written>,
    /// By logical page of the flash.
    flash: Vec<u64>,
    checked: u64,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Written {
    below: u64,
    latest: u64,
    /// What is being written, or was written last.
    issued: u64,
}

/// A version that was served and is not the latest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stale {
    page: u64,
    tier: &'static str,
    found: u64,
    written: u64,
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
    pub fn below(&self, page: u64) -> u64 {
        self.written.get(&page).map_or(0, |written| written.below)
    }
    fn latest(&self, page: u64) -> u64 {
        self.written.get(&page).map_or(0, |written| written.latest)
    }
    /// A write of a page begins.
    pub fn issue(&mut self, page: u64, version: u64) {
        self.written.entry(page).or_default().issued = version;
    }
    /// What is written of these pages is in the store below, and not acknowledged.
    pub fn reached_below(&mut self, pages: impl Iterator<Item = u64>) {
        for page in pages {
            let written = self.written.entry(page).or_default();
            written.below = written.issued;
        }
    }
    /// A write of a page has completed below.
    pub fn written_below(&mut self, page: u64) {
        let written = self.written.entry(page).or_default();
        written.latest = written.issued;
        written.below = written.issued;
    }
    /// A write of a page has completed in flash.
    pub fn written_in_flash(&mut self, page: u64, copy: Lpn) {
        let written = self.written.entry(page).or_default();
        written.latest = written.issued;
        self.put_issued(page, copy);
    }
    /// The flash is to hold what is being written of a page.
    pub fn put_issued(&mut self, page: u64, copy: Lpn) {
        let issued = self.written.entry(page).or_default().issued;
        self.put(copy, issued);
    }
    /// The flash holds a version of a page.
    pub fn put(&mut self, copy: Lpn, version: u64) {
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
    /// The power has failed. These pages have come back from flash, each with the write that its copy is of; of all others there is
    /// what the store below holds. Each is the last version that was acknowledged, or the one that was being written; of a cache that
    /// `keeps` nothing, whatever it is.
    pub fn cut(
        &mut self,
        restored: impl Iterator<Item = (u64, Lpn, u64)>,
        keeps: bool,
    ) -> Result<(), Stale> {
        self.flash.clear();
        let mut in_flash = FxHashMap::default();
        for (page, copy, version) in restored {
            self.put(copy, version);
            in_flash.insert(page, version);
        }
        for (page, written) in &mut self.written {
            let restored = in_flash.get(page);
            let found = restored.copied().unwrap_or(written.below);
            if keeps && found != written.latest && found != written.issued {
                return Err(Stale {
                    page: *page,
                    tier: restored.map_or("the store below", |_| "flash"),
                    found,
                    written: written.latest,
                });
            }
            (written.latest, written.issued) = (found, found);
        }
        Ok(())
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
    fn check(&mut self, page: u64, tier: &'static str, found: u64) -> Result<(), Stale> {
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
