//! Small write caches on small simulated flash devices, used to measure the valid pages in GC
//! victims.

use serde::{Deserialize, Serialize};
use wordline_cache::heap::Heap;
use wordline_cache::list::Lists;
use wordline_cache::{Entry, Index};
use wordline_kernel::Rng;
use wordline_kernel::memory::Table;
use wordline_kernel::random::splitmix;

use crate::space::Space;

/// Minimum number of blocks of a small flash, unless the full-size flash has fewer. With fewer
/// blocks, a single block affects the result.
const MIN_BLOCKS: u32 = 64;

/// Page-mapped flash with greedy GC and one active block, shared by host and GC.
///
/// Pages are identified by the number of their entry in the cache.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Log {
    pages_per_block: u32,
    /// Empty blocks below which GC starts.
    threshold: u32,
    /// For each page of flash, one more than the entry that it holds; 0 if it is not valid.
    entries: Vec<u32>,
    /// For each entry, one more than its page of flash.
    pages: Vec<u32>,
    /// Valid pages of each block.
    valid: Vec<u32>,
    /// Full blocks by their valid pages, then by number.
    full: Heap<(u32, u32)>,
    empty: Vec<u32>,
    /// Next page to write, or the end of its block if the block is full.
    next: u32,
    collections: u64,
    moved: u64,
}

impl Log {
    fn new(blocks: u32, pages_per_block: u32, threshold: u32) -> Self {
        Self {
            pages_per_block,
            threshold: threshold.max(1),
            entries: vec![0; (blocks * pages_per_block) as usize],
            pages: Vec::new(),
            valid: vec![0; blocks as usize],
            full: Heap::new(),
            empty: (1..blocks).rev().collect(),
            next: 0,
            collections: 0,
            moved: 0,
        }
    }
    /// Invalidates the page of an entry.
    fn trim(&mut self, entry: Entry) {
        let Some(page) = self.pages.get_mut(entry.index()) else {
            return;
        };
        let Some(page) = std::mem::take(page).checked_sub(1) else {
            return;
        };
        self.entries[page as usize] = 0;
        let block = page / self.pages_per_block;
        let valid = &mut self.valid[block as usize];
        *valid -= 1;
        if self.full.contains(Entry(block)) {
            self.full.set(Entry(block), (*valid, block));
        }
    }
    /// Writes an entry for the host, and runs GC while there are too few empty blocks.
    fn write(&mut self, entry: Entry) {
        self.trim(entry);
        self.append(entry);
        while (self.empty.len() as u32) < self.threshold && self.collect() {}
    }
    fn append(&mut self, entry: Entry) {
        let page = self.next;
        let block = page / self.pages_per_block;
        if self.pages.len() <= entry.index() {
            self.pages.resize(entry.index() + 1, 0);
        }
        self.entries[page as usize] = entry.0 + 1;
        self.pages[entry.index()] = page + 1;
        self.valid[block as usize] += 1;
        self.next += 1;
        if !self.next.is_multiple_of(self.pages_per_block) {
            return;
        }
        self.full
            .set(Entry(block), (self.valid[block as usize], block));
        if let Some(empty) = self.empty.pop() {
            self.next = empty * self.pages_per_block;
        }
    }
    /// Reclaims the block with the fewest valid pages. Returns `false` if no full block has an
    /// invalid page.
    fn collect(&mut self) -> bool {
        let Some((key, block)) = self.full.pop() else {
            return false;
        };
        let valid = self.valid[block.index()];
        if valid == self.pages_per_block {
            self.full.set(block, key);
            return false;
        }
        self.collections += 1;
        self.moved += u64::from(valid);
        let first = block.0 * self.pages_per_block;
        for page in first..first + self.pages_per_block {
            if let Some(entry) = std::mem::take(&mut self.entries[page as usize]).checked_sub(1) {
                self.append(Entry(entry));
            }
        }
        self.valid[block.index()] = 0;
        self.empty.push(block.0);
        true
    }
}

/// LRU write cache on a flash.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Shadow {
    capacity: usize,
    /// The most recent entry is at the front.
    recent: Lists<1>,
    log: Log,
}

impl Shadow {
    /// Writes a page. Returns the entry that was evicted for it, if any.
    fn write(&mut self, entry: Entry) -> Option<Entry> {
        let full = self.recent.len(0) == self.capacity && !self.recent.contains(entry);
        let leaving = if full { self.recent.pop_back(0) } else { None };
        if let Some(leaving) = leaving {
            self.log.trim(leaving);
        }
        self.recent.move_to_front(0, entry);
        self.log.write(entry);
        leaving
    }
}

/// Write caches of several sizes on small flash devices. Caches and devices are smaller than the
/// real ones by the same factor. The caches receive the writes of a sample of the pages, which is
/// reduced by that factor, too. Each page therefore has the same depth, relative to the size of the
/// cache, as in the real cache.
///
/// The caches start full of other pages. Victims are counted only after as many page writes as the
/// flash has pages, when the flash is in steady state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Miniature {
    salt: u64,
    /// Hash below which a page is sampled.
    limit: u64,
    index: Index,
    /// Caches in descending order of size. A page that the largest cache does not hold is in none
    /// of them.
    shadows: Vec<Shadow>,
    flash_pages: u64,
    written: u64,
}

impl Miniature {
    /// Creates caches for the sizes `cached` of the real cache, in descending order, on flash
    /// devices with `1 / divisor` of the blocks, or 64 if that is more, but at most all blocks.
    pub fn new(space: &Space, divisor: u32, cached: &[u32], seed: u64) -> Self {
        let all = (space.total_pages / space.pages_per_block).max(1);
        let blocks = (all / divisor.max(1)).max(MIN_BLOCKS).min(all);
        let ratio = f64::from(blocks) / f64::from(all);
        let scaled = |count: f64| (count * ratio).round() as u32;
        let threshold =
            scaled(f64::from(space.threshold_pages) / f64::from(space.pages_per_block)).max(1);
        let flash_pages = blocks * space.pages_per_block;
        let room = (blocks.saturating_sub(threshold + 1) * space.pages_per_block).max(1);
        let shadow = |&pages: &u32| Shadow {
            capacity: scaled(f64::from(pages)).clamp(1, room) as usize,
            recent: Lists::new(),
            log: Log::new(blocks, space.pages_per_block, threshold),
        };
        let mut miniature = Self {
            salt: Rng::new(seed, "cache.partition.miniature").bits(),
            limit: (ratio * 2.0_f64.powi(64)) as u64,
            index: Index::default(),
            shadows: cached.iter().map(shadow).collect(),
            flash_pages: flash_pages.into(),
            written: 0,
        };
        miniature.fill();
        miniature
    }
    /// Returns the maximum memory of `caches` miniature caches and their flash devices.
    pub fn memory(space: &Space, divisor: u32, caches: u32) -> Table {
        let pages = u64::from(space.total_pages / divisor.max(1)).max(1);
        let page = Lists::<1>::BYTES + 2 * size_of::<u32>() as u64;
        let index = Index::memory("miniature flash devices", pages).most;
        Table::grown::<u8>(
            "miniature flash devices",
            index + page * pages * u64::from(caches),
        )
    }
    /// Fills the caches with pages that are never requested, so that every miss evicts.
    fn fill(&mut self) {
        let most = self
            .shadows
            .first()
            .map_or(0, |largest| largest.capacity as u64);
        for page in 0..most {
            self.enter(u64::MAX - page);
        }
        for shadow in &mut self.shadows {
            (shadow.log.collections, shadow.log.moved) = (0, 0);
        }
    }
    /// Records a page write of the real cache.
    #[inline]
    pub fn write(&mut self, page: u64) {
        let all = self.limit == u64::MAX;
        if all || splitmix(page ^ self.salt) < self.limit {
            self.take(page);
        }
    }
    #[cold]
    fn take(&mut self, page: u64) {
        self.enter(page);
        self.written += 1;
        if self.written == self.flash_pages {
            for shadow in &mut self.shadows {
                (shadow.log.collections, shadow.log.moved) = (0, 0);
            }
        }
    }
    fn enter(&mut self, page: u64) {
        let Ok(entry) = self.index.enter(page) else {
            return;
        };
        let mut shadows = self.shadows.iter_mut();
        let leaving = shadows.next().and_then(|largest| largest.write(entry));
        for shadow in shadows {
            shadow.write(entry);
        }
        if let Some(leaving) = leaving {
            self.index.free(leaving);
        }
    }
    /// Returns `true` once each flash has been overwritten twice: once to reach steady state, and
    /// once to measure.
    pub fn is_trained(&self) -> bool {
        self.written >= 2 * self.flash_pages
    }
    /// Returns the mean share of valid pages in victims for each cache; `None` if a cache had no
    /// GC.
    pub fn victims(&self) -> impl Iterator<Item = Option<f64>> {
        self.shadows.iter().map(|Shadow { log, .. }| {
            let pages = log.collections * u64::from(log.pages_per_block);
            (pages > 0).then(|| log.moved as f64 / pages as f64)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asserts that no page is lost or duplicated, and that counters match the pages.
    fn check(log: &Log, live: &[bool]) {
        for (entry, &is_live) in live.iter().enumerate() {
            let page = log.pages.get(entry).copied().unwrap_or(0);
            assert_eq!(page > 0, is_live);
            if is_live {
                assert_eq!(log.entries[page as usize - 1], entry as u32 + 1);
            }
        }
        let blocks = log.entries.chunks(log.pages_per_block as usize);
        for (block, &valid) in blocks.zip(&log.valid) {
            let held = block.iter().filter(|&&entry| entry > 0).count();
            assert_eq!(held, valid as usize);
        }
    }

    #[test]
    fn log_keeps_exactly_the_live_entries() {
        for (seed, blocks, live) in [(1, 8, 16), (2, 20, 60), (3, 5, 4), (4, 12, 36)] {
            let mut random = Rng::new(seed, "log");
            let mut log = Log::new(blocks, 4, 2);
            let mut held = vec![false; live];
            for _ in 0..3_000 {
                let entry = random.below(live as u64) as usize;
                let write = random.below(5) > 0;
                held[entry] = write;
                if write {
                    log.write(Entry(entry as u32));
                } else {
                    log.trim(Entry(entry as u32));
                }
                check(&log, &held);
            }
            assert!(log.collections > 0);
        }
    }

    /// An entry number that the largest cache frees is not in use in a smaller cache.
    #[test]
    fn smaller_caches_are_subsets_of_the_largest() {
        let space = Space {
            total_pages: 64 * 16,
            pages_per_block: 16,
            threshold_pages: 32,
            page_bytes: 4096,
            start_pages: 500,
            most_pages: 900,
            costs: crate::Costs::PUBLISHED,
        };
        let mut miniature = Miniature::new(&space, 1, &[800, 300, 10], 1);
        let mut random = Rng::new(1, "miniature");
        for _ in 0..5_000 {
            miniature.write(random.below(2_000));
            let [largest, rest @ ..] = &miniature.shadows[..] else {
                unreachable!("the miniature has three caches");
            };
            for shadow in rest {
                let mut held = shadow.recent.from_front(0);
                assert!(held.all(|entry| largest.recent.contains(entry)));
            }
        }
        assert_eq!(miniature.index.len(), 800);
    }
}
