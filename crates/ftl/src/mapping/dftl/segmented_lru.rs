//! Eviction order of the cached map entries.

use serde::{Deserialize, Serialize};

use crate::lists::Lists;

const PROBATION: usize = 0;
const PROTECTED: usize = 1;

/// Maximum number of entries examined, from the oldest on, to find one that may be evicted. Only a
/// few entries may not be evicted: those in use, and temporarily those whose translation page
/// cannot be written.
const LOOK: usize = 64;

/// Segmented LRU over the keys `0..keys` (Karedla, Love and Wherry, Caching strategies to improve
/// disk system performance, IEEE Computer 27(3), 1994). A new entry is probationary; an entry that
/// is used again there becomes protected. When there are too many protected entries, the least
/// recently used one becomes probationary again. Without protected entries, this is LRU.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SegmentedLru {
    lists: Lists,
    protected: Vec<bool>,
    /// Maximum number of protected entries.
    most_protected: u32,
    /// Number of protected entries.
    protected_entries: u32,
}

impl SegmentedLru {
    /// Creates an empty order in which up to `most_protected` entries are protected.
    pub fn new(keys: u32, most_protected: u32) -> Self {
        let flags = if most_protected > 0 { keys as usize } else { 0 };
        Self {
            lists: Lists::new(2, keys as usize),
            protected: vec![false; flags],
            most_protected,
            protected_entries: 0,
        }
    }
    /// Inserts a new entry.
    pub fn insert(&mut self, key: u32) {
        self.lists.push_back(PROBATION, key);
    }
    /// Records another use of an entry.
    #[inline]
    pub fn touch(&mut self, key: u32) {
        let protected = self.is_protected(key);
        self.lists.remove(key);
        self.lists
            .push_back(usize::from(self.most_protected > 0), key);
        if self.most_protected > 0 && !protected {
            self.protect(key);
        }
    }
    fn protect(&mut self, key: u32) {
        self.protected[key as usize] = true;
        self.protected_entries += 1;
        if self.protected_entries > self.most_protected
            && let Some(oldest) = self.lists.front(PROTECTED)
        {
            self.remove(oldest);
            self.insert(oldest);
        }
    }
    /// Removes an entry.
    pub fn remove(&mut self, key: u32) {
        self.lists.remove(key);
        if self.is_protected(key) {
            self.protected[key as usize] = false;
            self.protected_entries -= 1;
        }
    }
    /// Returns the next entry to evict: among the first [`LOOK`] entries, the first for which
    /// `may_leave` is `true`. Returns `None` if there is no such entry.
    pub fn next_victim(&self, may_leave: impl Fn(u32) -> bool) -> Option<u32> {
        self.in_order().take(LOOK).find(|key| may_leave(*key))
    }
    /// Iterates over all entries in order of eviction.
    pub fn in_order(&self) -> impl Iterator<Item = u32> + '_ {
        [PROBATION, PROTECTED].into_iter().flat_map(move |list| {
            let after = |key: &u32| self.lists.after(*key);
            std::iter::successors(self.lists.front(list), after)
        })
    }
    #[inline]
    fn is_protected(&self, key: u32) -> bool {
        self.protected.get(key as usize).copied().unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::SegmentedLru;

    fn order(lru: &SegmentedLru) -> Vec<u32> {
        lru.in_order().collect()
    }

    #[test]
    fn least_recently_used_entry_is_evicted_without_protected_entries() {
        let mut lru = SegmentedLru::new(10, 0);
        for key in [1, 2, 3, 4] {
            lru.insert(key);
        }
        lru.touch(2);
        lru.touch(1);
        assert_eq!(order(&lru), [3, 4, 2, 1]);
        lru.remove(4);
        assert_eq!(order(&lru), [3, 2, 1]);
        assert_eq!(lru.next_victim(|key| key != 3), Some(2));
    }

    /// Karedla et al. 1994, figure 3: hits move to the protected segment, whose least recently used
    /// entry returns to the most recently used end of the probationary segment.
    #[test]
    fn protected_entries_outlive_newer_entries_that_were_used_once() {
        let mut lru = SegmentedLru::new(10, 2);
        for key in [1, 2, 3, 4] {
            lru.insert(key);
        }
        lru.touch(1);
        lru.touch(2);
        assert_eq!(order(&lru), [3, 4, 1, 2]);
        lru.touch(3);
        assert_eq!(order(&lru), [4, 1, 2, 3]);
        lru.remove(2);
        lru.insert(5);
        lru.touch(4);
        assert_eq!(order(&lru), [1, 5, 3, 4]);
    }
}
