//! Cache of map entries.

use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};

use super::segmented_lru::SegmentedLru;
use crate::lists::Lists;
use crate::mapping::MapCache;

/// Flag: the entry is in the cache.
const CACHED: u8 = 1;
/// Flag: the entry is cached and differs from its translation page.
const DIRTY: u8 = 2;
/// Flag: the entry is not cached and differs from its translation page. The change is kept outside
/// the cache until the translation page has been rewritten.
const OWED: u8 = 4;
/// Flag: a write has fetched the entry but has not been placed yet.
const WRITING: u8 = 8;
/// Unit of the counter in the upper bits: number of requests that wait for the entry or have yet to
/// use it.
const AWAITED: u8 = 16;

/// State of the map entries of all host pages, one byte each; zero if the entry is only in flash.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Cache {
    capacity: u32,
    cached: u32,
    /// Number of entries that jobs are fetching.
    arriving: u32,
    states: Vec<u8>,
    lru: SegmentedLru,
    pub counts: MapCache,
}

impl Cache {
    /// Creates an empty cache of `capacity` entries, of which up to `protected` are protected.
    pub fn new(pages: u32, capacity: u32, protected: u32) -> Self {
        Self {
            capacity,
            cached: 0,
            arriving: 0,
            states: vec![0; pages as usize],
            lru: SegmentedLru::new(pages, protected),
            counts: MapCache::default(),
        }
    }
    /// Returns the memory estimate of the states and the eviction order.
    pub fn memory(pages: u32, protected: u32, fill: Fill) -> [Table; 3] {
        let flags = if protected > 0 { pages } else { 0 };
        [
            Table::zeroed::<u8>("map entry states", pages.into(), fill.logical),
            Lists::memory(
                "eviction order of map entries",
                2,
                pages.into(),
                fill.logical,
            ),
            Table::zeroed::<bool>("protected map entries", flags.into(), 0.0),
        ]
    }
    #[inline]
    fn is(&self, page: u32, flag: u8) -> bool {
        self.states[page as usize] & flag != 0
    }
    fn set(&mut self, page: u32, flag: u8) {
        self.states[page as usize] |= flag;
    }
    fn clear(&mut self, page: u32, flag: u8) {
        self.states[page as usize] &= !flag;
    }
    /// Returns `true` if the entry need not be read from flash.
    #[inline]
    pub fn is_in_memory(&self, page: u32) -> bool {
        self.is(page, CACHED | OWED)
    }
    pub fn is_dirty(&self, page: u32) -> bool {
        self.is(page, DIRTY)
    }
    /// Returns `true` if a request waits for the entry.
    pub fn is_awaited(&self, page: u32) -> bool {
        self.states[page as usize] >= AWAITED
    }
    /// Returns `true` if a request uses the entry or is about to.
    pub fn is_in_use(&self, page: u32) -> bool {
        self.states[page as usize] >= WRITING
    }
    /// Returns `true` if the cache has no room for another entry.
    pub fn is_full(&self) -> bool {
        self.cached + self.arriving >= self.capacity
    }
    /// Returns the next entry to evict, among those that no request uses and for which `may_leave`
    /// is `true`; `None` if there is none.
    pub fn next_victim(&self, may_leave: impl Fn(u32) -> bool) -> Option<u32> {
        self.lru
            .next_victim(|page| !self.is_in_use(page) && may_leave(page))
    }

    /// Records a use of an entry in memory. `update` is `true` for a write that will be placed.
    #[inline]
    pub fn hit(&mut self, page: u32, update: bool) {
        if self.is(page, OWED) {
            self.take_back(page..page + 1);
        } else if !self.is_awaited(page) {
            self.lru.touch(page);
        }
        if self.is_awaited(page) {
            self.states[page as usize] -= AWAITED;
        } else {
            self.counts.hits += 1;
        }
        self.begin(page, update);
    }
    /// Records that a request uses an entry. `update` is `true` for a write that will be placed.
    pub fn begin(&mut self, page: u32, update: bool) {
        if update {
            self.set(page, WRITING);
        }
    }
    /// Records that a request waits for the entry, which a job fetches.
    pub fn wait(&mut self, page: u32) {
        let state = &mut self.states[page as usize];
        *state = state.checked_add(AWAITED).unwrap_or(*state);
    }
    /// Records that one more entry is being fetched.
    pub fn expect(&mut self) {
        self.arriving += 1;
    }
    /// Records the arrival of a fetched entry.
    pub fn arrive(&mut self, page: u32) {
        self.arriving -= 1;
        if !self.is_in_memory(page) {
            self.insert(page);
        }
    }
    /// Inserts an entry that does not differ from its translation page.
    pub fn insert(&mut self, page: u32) {
        self.cached += 1;
        self.set(page, CACHED);
        self.lru.insert(page);
    }
    /// Marks an entry as changed because its page has been placed or trimmed.
    #[inline]
    pub fn change(&mut self, page: u32) {
        self.clear(page, WRITING | OWED);
        if !self.is(page, CACHED) {
            self.insert(page);
        }
        self.set(page, DIRTY);
    }
    /// Records that a page has been unmapped and its translation page is about to be rewritten. The
    /// changed entry leaves the cache, unless dirty entries are written with the translation page
    /// (`batch`) or a request waits for the entry.
    pub fn unmapped(&mut self, page: u32, batch: bool) {
        self.clear(page, WRITING);
        if self.is(page, CACHED) && !batch && !self.is_awaited(page) {
            self.cached -= 1;
            self.lru.remove(page);
            self.clear(page, CACHED | DIRTY);
        }
        let cached = self.is(page, CACHED);
        self.set(page, if cached { DIRTY } else { OWED });
    }
    /// Records that a TRIM of the page did not change its entry.
    pub fn leave(&mut self, page: u32) {
        self.clear(page, WRITING);
    }
    /// Marks the entry of a moved page as changed. Returns `true` if its translation page must be
    /// rewritten because the entry is not cached.
    pub fn moved(&mut self, page: u32) -> bool {
        let cached = self.is(page, CACHED);
        self.set(page, if cached { DIRTY } else { OWED });
        !cached
    }
    /// Evicts an entry. Returns `true` if its translation page must be rewritten.
    pub fn evict(&mut self, page: u32) -> bool {
        let dirty = self.is_dirty(page);
        self.counts.evictions += 1;
        self.counts.dirty_evictions += u64::from(dirty);
        self.cached -= 1;
        self.lru.remove(page);
        self.clear(page, CACHED | DIRTY);
        if dirty {
            self.set(page, OWED);
        }
        dirty
    }
    /// Records the rewrite of the translation page with the entries of `pages`. The rewrite
    /// includes changes kept outside the cache and, with `batch`, dirty entries. Returns `true` if
    /// there was any change to write.
    pub fn settle(&mut self, pages: std::ops::Range<u32>, batch: bool) -> bool {
        let written = if batch { OWED | DIRTY } else { OWED };
        let mut any = 0;
        for state in &mut self.states[pages.start as usize..pages.end as usize] {
            any |= *state;
            *state &= !written;
        }
        any & written != 0
    }
    /// Moves changes kept outside the cache back into it, because the translation page with the
    /// entries of `pages` cannot be rewritten.
    pub fn take_back(&mut self, pages: std::ops::Range<u32>) {
        for page in pages {
            if self.is(page, OWED) {
                self.clear(page, OWED);
                self.insert(page);
                self.set(page, DIRTY);
            }
        }
    }
    /// Checks the counters and flags for consistency.
    pub fn audit(&self) -> Result<(), String> {
        let cached = |state: &&u8| **state & CACHED != 0;
        let found = self.states.iter().filter(cached).count() as u32;
        let listed = self.lru.in_order().count() as u32;
        if (found, listed) != (self.cached, self.cached) {
            return Err(format!(
                "{found} map entries are cached and {listed} are in the eviction order, but the counter is {}",
                self.cached
            ));
        }
        let torn = |page: &u32| {
            let state = self.states[*page as usize];
            (state & CACHED == 0 && state & DIRTY != 0)
                || (state & CACHED != 0 && state & OWED != 0)
        };
        match (0..self.states.len() as u32).find(torn) {
            Some(page) => Err(format!(
                "the map entry of page {page} is inconsistent: changed but not cached, or cached and kept outside the cache"
            )),
            None => Ok(()),
        }
    }
    /// Returns `true` if the change of an entry is kept outside the cache.
    pub fn is_owed(&self, page: u32) -> bool {
        self.is(page, OWED)
    }
}
