//! For verification: which version of each page the store below and the flash hold, and which the host has written.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use wordline_ftl::Lpn;
use wordline_kernel::Time;

use super::event::CachedError;

/// Versions of pages: the numbers of their writes; 0 before the first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Versions {
    /// By page: what the store below holds, and what a read has to return. Of pages that were written.
    written: FxHashMap<u64, Written>,
    /// By logical page of the flash.
    flash: Vec<u64>,
    /// Pages of which the store below may lose what it holds, and since when it holds that.
    volatile: FxHashMap<u64, Time>,
    checked: u64,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Written {
    below: u64,
    /// What the store below holds after a power cut at least.
    kept: u64,
    latest: u64,
    /// The latest version that the host was promised would survive a power cut.
    promised: u64,
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

/// Whether what the store below holds is there after a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Durability {
    Durable,
    /// Not for certain; since when it is held.
    Volatile(Time),
}

/// Whether a store loses a version of a page that it need not keep: of half of them, whichever these are.
fn is_lost(page: u64, version: u64) -> bool {
    let mixed = (page << 32 ^ version).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed >> 63 == 1
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
    /// What is written of a page is in the store below, and not acknowledged.
    pub fn reached_below(&mut self, page: u64, held: Durability) {
        let issued = self.written.entry(page).or_default().issued;
        self.hold_below(page, issued, held);
    }
    /// A write of a page has completed below.
    pub fn written_below(&mut self, page: u64, held: Durability) {
        let written = self.written.entry(page).or_default();
        let issued = written.issued;
        written.latest = issued;
        if held == Durability::Durable {
            written.promised = issued;
        }
        self.hold_below(page, issued, held);
    }
    fn hold_below(&mut self, page: u64, version: u64, held: Durability) {
        let written = self.written.entry(page).or_default();
        written.below = version;
        match held {
            Durability::Durable => {
                written.kept = version;
                self.volatile.remove(&page);
            }
            Durability::Volatile(now) => {
                self.volatile.insert(page, now);
            }
        }
    }
    /// A flush has completed that began at an instant: what the store below held before is durable.
    pub fn flushed(&mut self, began: Time) {
        let written = &mut self.written;
        self.volatile.retain(|page, since| {
            let covered = *since < began;
            if covered && let Some(written) = written.get_mut(page) {
                written.kept = written.below;
                if written.below <= written.latest {
                    written.promised = written.promised.max(written.below);
                }
            }
            !covered
        });
    }
    /// A write of a page has completed in flash, of which a cut leaves it or not.
    pub fn written_in_flash(&mut self, page: u64, copy: Lpn, keeps: bool) {
        let written = self.written.entry(page).or_default();
        written.latest = written.issued;
        if keeps {
            written.promised = written.issued;
        }
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
    pub fn destaged(&mut self, page: u64, copy: Lpn, held: Durability) {
        let version = self.flash[copy.index()];
        self.hold_below(page, version, held);
    }
    /// The power has failed. These pages have come back from flash, each with the write that its copy is of; of all others there is
    /// what the store below holds, and of what it need not keep it has kept a part. Each is the last version that was acknowledged, or
    /// the one that was being written; where only the promise counts, one that is not older than promised. Of pages that are `lost`
    /// nothing is said.
    pub fn cut(
        &mut self,
        restored: impl Iterator<Item = (u64, Lpn, u64)>,
        keeps: bool,
        lost: &FxHashSet<u64>,
    ) -> Result<(), Stale> {
        self.flash.clear();
        let mut in_flash = FxHashMap::default();
        for (page, copy, version) in restored {
            self.put(copy, version);
            in_flash.insert(page, version);
        }
        let volatile = std::mem::take(&mut self.volatile);
        for (page, written) in &mut self.written {
            let is_volatile = volatile.contains_key(page);
            if is_volatile && is_lost(*page, written.below) {
                written.below = written.kept;
            }
            let restored = in_flash.get(page);
            let found = restored.copied().unwrap_or(written.below);
            let is_latest = found == written.latest || found == written.issued;
            let may_be_older = is_volatile || !keeps;
            let is_wrong = !is_latest && (!may_be_older || found < written.promised);
            if is_wrong && !lost.contains(page) {
                return Err(Stale {
                    page: *page,
                    tier: restored.map_or("the store below", |_| "flash"),
                    found,
                    written: written.latest,
                });
            }
            *written = Written {
                below: written.below,
                kept: written.below,
                latest: found,
                promised: found,
                issued: found,
            };
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
