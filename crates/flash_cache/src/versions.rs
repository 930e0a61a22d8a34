//! Verification: tracks the version of each page in the backing store, in flash, and as written by
//! the host.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use wordline_ftl::Lpn;
use wordline_kernel::Time;

use super::event::CachedError;

/// Versions of pages. A version is the number of a write; 0 is the content before the first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Versions {
    /// Versions of each page that was written.
    written: FxHashMap<u64, Written>,
    /// Version of each logical page of the flash.
    flash: Vec<u64>,
    /// Pages that the backing store may lose in a power cut, and the time at which it received
    /// them.
    volatile: FxHashMap<u64, Time>,
    checked: u64,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Written {
    below: u64,
    /// Version to which the backing store may fall back in a power cut.
    kept: u64,
    latest: u64,
    /// Latest version that the cache has promised to keep in a power cut.
    promised: u64,
    /// Version that is being written, or was written last.
    issued: u64,
}

/// Version that was served although it is not the latest.
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

/// Durability of data in the backing store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Durability {
    Durable,
    /// The data may be lost in a power cut. Contains the time at which the store received it.
    Volatile(Time),
}

/// Returns `true` if the simulated power cut loses a version of a page that the store is allowed to
/// lose. Half of the versions are lost, chosen pseudo-randomly.
fn is_lost(page: u64, version: u64) -> bool {
    let mixed = (page << 32 ^ version).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed >> 63 == 1
}

impl Versions {
    /// Returns the version of a page in the backing store.
    pub fn below(&self, page: u64) -> u64 {
        self.written.get(&page).map_or(0, |written| written.below)
    }
    fn latest(&self, page: u64) -> u64 {
        self.written.get(&page).map_or(0, |written| written.latest)
    }
    /// Records the start of a write of a page.
    pub fn issue(&mut self, page: u64, version: u64) {
        self.written.entry(page).or_default().issued = version;
    }
    /// Records that the version being written has reached the backing store, without being
    /// acknowledged.
    pub fn reached_below(&mut self, page: u64, held: Durability) {
        let issued = self.written.entry(page).or_default().issued;
        self.hold_below(page, issued, held);
    }
    /// Records that a write of a page has completed on the backing store.
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
    /// Records that a flush that started at `began` has completed. All data that the backing store
    /// held before `began` is durable.
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
    /// Records that a write of a page has completed in flash. `keeps` states whether it survives a
    /// power cut.
    pub fn written_in_flash(&mut self, page: u64, copy: Lpn, keeps: bool) {
        let written = self.written.entry(page).or_default();
        written.latest = written.issued;
        if keeps {
            written.promised = written.issued;
        }
        self.put_issued(page, copy);
    }
    /// Records the version being written as the version of the page in flash.
    pub fn put_issued(&mut self, page: u64, copy: Lpn) {
        let issued = self.written.entry(page).or_default().issued;
        self.put(copy, issued);
    }
    /// Records the version of a copy in flash.
    pub fn put(&mut self, copy: Lpn, version: u64) {
        if self.flash.len() <= copy.index() {
            self.flash.resize(copy.index() + 1, 0);
        }
        self.flash[copy.index()] = version;
    }
    /// Records that the backing store has received the version of a page that the flash holds.
    pub fn destaged(&mut self, page: u64, copy: Lpn, held: Durability) {
        let version = self.flash[copy.index()];
        self.hold_below(page, version, held);
    }
    /// Checks the state after a power failure. The `restored` pages come from flash, each with the
    /// number of its write. All others are read from the backing store, which has kept only part of
    /// the data that it was allowed to lose. Each page must have the latest acknowledged version,
    /// or the version being written. Volatile pages, and all pages unless `keeps` is `true`, may be
    /// older, but not older than promised. `lost` pages are not checked.
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
                    tier: restored.map_or("the backing store", |_| "flash"),
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
    /// Checks the version of a page that is served from flash.
    pub fn check_flash(&mut self, page: u64, copy: Lpn) -> Result<(), Stale> {
        let found = self.flash[copy.index()];
        self.check(page, "flash", found)
    }
    /// Checks the version of a page that is served from the backing store.
    pub fn check_below(&mut self, page: u64) -> Result<(), Stale> {
        let found = self.below(page);
        self.check(page, "the backing store", found)
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
    /// Returns the number of pages checked.
    pub fn checked(&self) -> u64 {
        self.checked
    }
}
