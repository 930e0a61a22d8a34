//! S3-FIFO: a small, a main and a ghost FIFO queue.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Owner, Replace, share};
use crate::entry::Entry;
use crate::list::Lists;

/// Keeps three FIFO queues: small, main and ghost. A new entry enters the small queue. An entry
/// that reaches the end of the small queue moves to the main queue if it had at least
/// `promotion_hits` hits; otherwise it is evicted and becomes a ghost. A ghost that is requested
/// again enters the main queue directly. In the main queue, an entry is reinserted once per hit; at
/// most three hits count. The maximum number of ghosts is the share of the main queue.
///
/// Victims come from the small queue, unless it is below its share. As in the simulator of the
/// authors, evictions happen only on demand; Algorithm 1 also evicts from the main queue when an
/// entry moves there and fills it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct S3Fifo {
    /// Share of the small queue in the capacity; rounded down, at least one entry.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub small_ratio: f64,
    /// Minimum hits in the small queue for an entry to move to the main queue. Count. Algorithm 1
    /// of the paper uses 2; the cache library foyer uses 1.
    #[schemars(range(min = 1, max = 3))]
    pub promotion_hits: u8,
}

impl Default for S3Fifo {
    fn default() -> Self {
        Self {
            small_ratio: 0.1,
            promotion_hits: 2,
        }
    }
}

impl Cited for S3Fifo {
    const PAPER: &'static str =
        "J. Yang et al., FIFO queues are all you need for cache eviction, SOSP 2023";
}

const SMALL: usize = 0;
const MAIN: usize = 1;
const GHOST: usize = 2;
/// Maximum of the hit counter; further hits do not count.
const MAX_FREQUENCY: u8 = 3;

/// The three queues, the newest entry at the front; the mark of a resident is its hit counter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    policy: S3Fifo,
    lists: Lists<3>,
    capacity: usize,
    /// Share of the main queue, and maximum number of ghosts.
    main: usize,
}

impl State {
    /// Creates an empty cache of `capacity` entries.
    pub fn new(policy: &S3Fifo, capacity: usize) -> Self {
        Self {
            policy: policy.clone(),
            lists: Lists::new(),
            capacity,
            main: main_share(policy, capacity),
        }
    }
    /// Evicts until at most `count` entries are resident.
    #[inline]
    fn shrink(&mut self, count: usize, owner: &mut impl Owner) {
        while self.len() > count {
            if self.lists.is_empty(SMALL) || self.lists.len(MAIN) > self.main {
                self.evict_from_main(owner);
            } else {
                self.evict_from_small(owner);
            }
        }
    }
    /// Evicts the first entry of the small queue that does not move to the main queue, if there is
    /// one.
    fn evict_from_small(&mut self, owner: &mut impl Owner) {
        while let Some(oldest) = self.lists.pop_back(SMALL) {
            if self.lists.mark(oldest) < self.policy.promotion_hits {
                owner.evicted(oldest);
                self.lists.push_front(GHOST, oldest);
                self.trim(owner);
                return;
            }
            self.push(MAIN, oldest, 0);
        }
    }
    /// Evicts the first entry of the main queue that has no hits left.
    fn evict_from_main(&mut self, owner: &mut impl Owner) {
        while let Some(oldest) = self.lists.pop_back(MAIN) {
            let hits = self.lists.mark(oldest);
            if hits == 0 {
                owner.evicted(oldest);
                owner.forgotten(oldest);
                return;
            }
            self.push(MAIN, oldest, hits - 1);
        }
    }
    #[inline]
    fn push(&mut self, list: usize, entry: Entry, hits: u8) {
        self.lists.push_front(list, entry);
        self.lists.set_mark(entry, hits);
    }
    /// Drops ghosts beyond their maximum, the oldest first.
    #[inline]
    fn trim(&mut self, owner: &mut impl Owner) {
        while self.lists.len(GHOST) > self.main
            && let Some(oldest) = self.lists.pop_back(GHOST)
        {
            owner.forgotten(oldest);
        }
    }
}

/// Returns the share of the main queue. Entries.
fn main_share(policy: &S3Fifo, capacity: usize) -> usize {
    capacity - share(capacity, policy.small_ratio).min(capacity)
}

impl Replace for State {
    #[inline]
    fn access(&mut self, entry: Entry, _write: bool, owner: &mut impl Owner) -> bool {
        let list = match self.lists.list(entry) {
            None => SMALL,
            // The entry leaves the ghosts first: the eviction adds a ghost, which could push the
            // entry out.
            Some(GHOST) => {
                self.lists.unlink(entry);
                MAIN
            }
            Some(_) => {
                let hits = self.lists.mark(entry) + 1;
                self.lists.set_mark(entry, hits.min(MAX_FREQUENCY));
                return true;
            }
        };
        self.shrink(self.capacity - 1, owner);
        self.push(list, entry, 0);
        false
    }
    #[inline]
    fn contains(&self, entry: Entry) -> bool {
        matches!(self.lists.list(entry), Some(SMALL | MAIN))
    }
    fn remembers(&self, entry: Entry) -> bool {
        self.lists.list(entry) == Some(GHOST)
    }
    fn len(&self) -> usize {
        self.lists.len(SMALL) + self.lists.len(MAIN)
    }
    fn capacity(&self) -> usize {
        self.capacity
    }
    fn remove(&mut self, entry: Entry, owner: &mut impl Owner) {
        if self.lists.contains(entry) {
            self.lists.unlink(entry);
            owner.forgotten(entry);
        }
    }
    fn resize(&mut self, capacity: usize, owner: &mut impl Owner) {
        self.capacity = capacity;
        self.main = main_share(&self.policy, capacity);
        self.shrink(capacity, owner);
        self.trim(owner);
    }
}
