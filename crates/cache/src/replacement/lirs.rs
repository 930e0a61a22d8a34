//! LIRS, low inter-reference recency set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Owner, Replace, share};
use crate::entry::Entry;
use crate::list::Lists;

/// Ranks entries by the distance between their last two requests (inter-reference recency) instead
/// of the time since the last request. Most of the cache holds entries with a short distance (LIR);
/// victims come from a small FIFO queue of the others (HIR). A stack keeps the order of requests,
/// including those for evicted entries, down to the least recently requested LIR entry. A HIR entry
/// that is requested while it is in the stack changes roles with that LIR entry.
///
/// While there are fewer LIR entries than their share, every requested entry becomes LIR. The
/// number of ghosts is bounded, and the least recently requested ghosts are dropped first. The
/// authors' simulator bounds the stack instead. With capacity 1 there is no LIR entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Lirs {
    /// Share of HIR entries in the capacity; rounded down, at least one entry.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub hir_ratio: f64,
    /// Maximum number of ghosts, relative to the capacity; rounded down. With 2, the stack has at
    /// most three times the capacity.
    #[schemars(range(min = 0.0, max = 1e6))]
    pub ghost_ratio: f64,
}

impl Default for Lirs {
    fn default() -> Self {
        Self {
            hir_ratio: 0.01,
            ghost_ratio: 2.0,
        }
    }
}

impl Cited for Lirs {
    const PAPER: &'static str = "S. Jiang and X. Zhang, LIRS: An efficient low inter-reference recency set \
                                 replacement policy to improve buffer cache performance, SIGMETRICS 2002";
}

/// Queue of resident HIR entries.
const QUEUE: usize = 0;
/// Queue of evicted entries that are still in the stack.
const GHOST: usize = 1;

/// The LIR stack and the two queues. An entry in the stack and in no queue is LIR. The last entry
/// of the stack is LIR.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    policy: Lirs,
    /// Entries in the order of their last requests, the most recent at the front.
    stack: Lists<1>,
    /// Resident HIR entries and ghosts, the newest at the front. Ghosts are in the order of the
    /// stack, because they were evicted in the order of their last requests.
    queues: Lists<2>,
    lir: usize,
    lir_share: usize,
    most_ghosts: usize,
    capacity: usize,
}

impl State {
    /// Creates an empty cache of `capacity` entries.
    pub fn new(policy: &Lirs, capacity: usize) -> Self {
        let mut state = Self {
            policy: policy.clone(),
            stack: Lists::new(),
            queues: Lists::new(),
            lir: 0,
            lir_share: 0,
            most_ghosts: 0,
            capacity,
        };
        state.divide(capacity);
        state
    }
    fn divide(&mut self, capacity: usize) {
        self.capacity = capacity;
        self.lir_share = capacity - share(capacity, self.policy.hir_ratio).min(capacity);
        self.most_ghosts = (capacity as f64 * self.policy.ghost_ratio) as usize;
    }
    #[inline]
    fn is_lir(&self, entry: Entry) -> bool {
        self.stack.contains(entry) && !self.queues.contains(entry)
    }
    /// Evicts until at most `count` entries are resident.
    #[inline]
    fn shrink(&mut self, count: usize, owner: &mut impl Owner) {
        while self.len() > count
            && let Some(oldest) = self.queues.pop_back(QUEUE)
        {
            owner.evicted(oldest);
            if self.stack.contains(oldest) {
                self.queues.push_front(GHOST, oldest);
            } else {
                owner.forgotten(oldest);
            }
        }
    }
    /// Turns LIR entries beyond their share into HIR entries, the least recently requested first.
    #[inline]
    fn demote(&mut self, owner: &mut impl Owner) {
        while self.lir > self.lir_share
            && let Some(last) = self.stack.pop_back(0)
        {
            self.lir -= 1;
            self.queues.push_front(QUEUE, last);
            self.prune(owner);
        }
    }
    /// Removes the entries below the last LIR entry from the stack.
    #[inline]
    fn prune(&mut self, owner: &mut impl Owner) {
        while let Some(last) = self.stack.back(0)
            && let Some(queue) = self.queues.list(last)
        {
            self.stack.unlink(last);
            if queue == GHOST {
                self.queues.unlink(last);
                owner.forgotten(last);
            }
        }
    }
    /// Drops ghosts beyond their maximum, the least recently requested first.
    #[inline]
    fn trim(&mut self, owner: &mut impl Owner) {
        while self.queues.len(GHOST) > self.most_ghosts
            && let Some(oldest) = self.queues.pop_back(GHOST)
        {
            self.stack.unlink(oldest);
            owner.forgotten(oldest);
        }
    }
    /// Handles a request for a LIR entry.
    #[inline]
    fn hit_lir(&mut self, entry: Entry, owner: &mut impl Owner) {
        self.stack.move_to_front(0, entry);
        self.prune(owner);
    }
    /// Handles a request for an entry that is not LIR. The entry is in no queue, but may be in the
    /// stack.
    #[inline]
    fn place(&mut self, entry: Entry, owner: &mut impl Owner) {
        let known = self.stack.contains(entry);
        self.stack.move_to_front(0, entry);
        if known || self.lir < self.lir_share {
            self.lir += 1;
            self.demote(owner);
        } else {
            self.queues.push_front(QUEUE, entry);
        }
        self.prune(owner);
    }
}

impl Replace for State {
    #[inline]
    fn access(&mut self, entry: Entry, _write: bool, owner: &mut impl Owner) -> bool {
        if self.is_lir(entry) {
            self.hit_lir(entry, owner);
            return true;
        }
        let hit = self.queues.list(entry) == Some(QUEUE);
        self.queues.unlink(entry);
        if !hit {
            self.shrink(self.capacity - 1, owner);
        }
        self.place(entry, owner);
        self.trim(owner);
        hit
    }
    #[inline]
    fn contains(&self, entry: Entry) -> bool {
        self.is_lir(entry) || self.queues.list(entry) == Some(QUEUE)
    }
    fn remembers(&self, entry: Entry) -> bool {
        self.queues.list(entry) == Some(GHOST)
    }
    fn len(&self) -> usize {
        self.lir + self.queues.len(QUEUE)
    }
    fn capacity(&self) -> usize {
        self.capacity
    }
    fn remove(&mut self, entry: Entry, owner: &mut impl Owner) {
        if !self.stack.contains(entry) && !self.queues.contains(entry) {
            return;
        }
        self.lir -= usize::from(self.is_lir(entry));
        self.stack.unlink(entry);
        self.queues.unlink(entry);
        owner.forgotten(entry);
        self.prune(owner);
    }
    fn resize(&mut self, capacity: usize, owner: &mut impl Owner) {
        self.divide(capacity);
        self.demote(owner);
        self.shrink(capacity, owner);
        self.trim(owner);
    }
}
