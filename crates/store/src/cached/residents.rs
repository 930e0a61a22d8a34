//! The pages that a cache holds: the owner of the pages of its flash.

use serde::{Deserialize, Serialize};
use wordline_cache::{Copies, Entry, Found, Full, Index, Replacing, Suspecting};
use wordline_ftl::Lpn;
use wordline_ftl::mapping::owned::Pages;
use wordline_ftl::owner::Owner;

use super::plan::Plan;

/// Pages of the store below by the numbers of their entries, which are the logical pages of the flash.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Residents {
    index: Index,
    cache: Suspecting,
    ghosts_of_dropped: bool,
    counts: Counts,
}

/// What has become of the pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Pages that left by the rule of the policy.
    pub evicted: u64,
    /// Pages that a collection has dropped.
    pub dropped: u64,
    /// Suspected pages that were lost with their blocks.
    pub suspected_lost: u64,
}

/// The copies while a request changes them.
struct InFlash<'a> {
    index: &'a mut Index,
    pages: &'a mut Pages,
    evicted: u64,
}

fn lpn(entry: Entry) -> Lpn {
    Lpn(entry.0)
}

impl Copies for InFlash<'_> {
    fn evicted(&mut self, entry: Entry, suspect: bool) -> bool {
        self.evicted += 1;
        if suspect {
            return self.pages.suspect(lpn(entry));
        }
        self.pages.discard(lpn(entry));
        false
    }
    fn revived(&mut self, entry: Entry) {
        self.pages.revive(lpn(entry));
    }
    fn discarded(&mut self, entry: Entry) {
        self.pages.discard(lpn(entry));
    }
    fn forgotten(&mut self, entry: Entry) {
        self.index.free(entry);
    }
}

/// The copies while their block is collected: the translation layer has taken care of them.
struct Collected<'a>(&'a mut Index);

impl Copies for Collected<'_> {
    fn evicted(&mut self, _entry: Entry, _suspect: bool) -> bool {
        false
    }
    fn revived(&mut self, _entry: Entry) {}
    fn discarded(&mut self, _entry: Entry) {}
    fn forgotten(&mut self, entry: Entry) {
        self.0.free(entry);
    }
}

impl Owner for Residents {
    fn is_hot(&self, page: Lpn) -> bool {
        self.cache.is_hot(Entry(page.0))
    }
    fn lost(&mut self, page: Lpn) {
        let entry = Entry(page.0);
        if self.cache.suspects(entry) {
            self.counts.suspected_lost += 1;
        } else if self.cache.contains(entry) {
            self.counts.dropped += 1;
        } else {
            return; // programmed for an entry that had left before
        }
        let ghosts = self.ghosts_of_dropped;
        self.cache
            .erased(entry, ghosts, &mut Collected(&mut self.index));
    }
}

impl Residents {
    /// An empty cache.
    pub fn new(plan: &Plan) -> Self {
        let policy = Replacing::new(&plan.replacement, plan.capacity as usize);
        Self {
            index: Index::default(),
            cache: Suspecting::new(policy, plan.most_suspected as usize, plan.halves),
            ghosts_of_dropped: plan.ghosts_of_dropped,
            counts: Counts::default(),
        }
    }
    /// Pages held.
    pub fn len(&self) -> usize {
        self.cache.len()
    }
    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Pages suspected.
    pub fn suspected(&self) -> usize {
        self.cache.suspected()
    }
    /// What has become of the pages.
    pub fn counts(&self) -> Counts {
        self.counts
    }
    /// What is known of a page of the store below, if it can be read from flash.
    pub fn find(&self, page: u64) -> Option<(Lpn, Found)> {
        let entry = self.index.get(page)?;
        if self.cache.contains(entry) {
            return Some((lpn(entry), Found::Resident));
        }
        let suspected = self.cache.suspects(entry);
        suspected.then_some((lpn(entry), Found::Suspected))
    }
    /// The page of the store below that a logical page of the flash stands for, or stood for last.
    pub fn page_of(&self, page: Lpn) -> u64 {
        self.index.key(Entry(page.0))
    }

    /// A read of a page of the store below, which is resident afterwards.
    #[inline]
    pub(super) fn access(&mut self, page: u64, pages: &mut Pages) -> Result<(Lpn, Found), Full> {
        let entry = if let Some(entry) = self.index.get(page) {
            entry
        } else {
            let entry = self.index.enter(page)?;
            pages.reserve(lpn(entry));
            entry
        };
        let mut copies = InFlash {
            index: &mut self.index,
            pages,
            evicted: 0,
        };
        let found = self.cache.access(entry, &mut copies);
        self.counts.evicted += copies.evicted;
        Ok((lpn(entry), found))
    }
    /// A page of the store below has changed, or is gone. Whether the cache had it.
    pub(super) fn remove(&mut self, page: u64, pages: &mut Pages) -> bool {
        let Some(entry) = self.index.get(page) else {
            return false;
        };
        let readable = self.cache.contains(entry) || self.cache.suspects(entry);
        let mut copies = InFlash {
            index: &mut self.index,
            pages,
            evicted: 0,
        };
        self.cache.remove(entry, &mut copies);
        readable
    }
}
