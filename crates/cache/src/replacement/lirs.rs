//! LIRS.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Owner, Replace, share};
use crate::entry::Entry;
use crate::list::Lists;

/// Ranks entries by the distance between their last two requests (inter-reference recency) instead
/// of the time since the last. Most of the cache holds entries with a low one (LIR); only a small
/// queue of the others (HIR) is evicted from, in order. A stack remembers the order of requests, of
/// evicted entries too, back to the LIR entry asked for longest ago: a HIR entry asked for while it
/// is in the stack changes roles with that one.
///
/// While LIR entries are fewer than their share, whatever is asked for becomes one. How many
/// evicted entries are remembered is bounded, as in the simulator of the authors, where the stack
/// is; those asked for longest ago are forgotten first. With capacity 1 there is no LIR entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Lirs {
    /// Share of HIR entries in the capacity; rounded down, at least one entry.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub hir_ratio: f64,
    /// Evicted entries that are remembered at most, relative to the capacity; rounded down. With 2
    /// the stack has at most three times the capacity.
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

/// Of `queues`: residents that are HIR.
const QUEUE: usize = 0;
/// Of `queues`: what was evicted and is still in the stack.
const GHOST: usize = 1;

/// What is in the stack and in no queue is LIR. The last of the stack is LIR.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    policy: Lirs,
    /// The most recent in front.
    stack: Lists<1>,
    /// The newest in front. Ghosts are in the order of the stack: they were evicted in the order in
    /// which they were last asked for.
    queues: Lists<2>,
    lir: usize,
    lir_share: usize,
    most_ghosts: usize,
    capacity: usize,
}

impl State {
    /// An empty cache of `capacity` entries.
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
    /// Evicts until `count` are resident or fewer.
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
    /// Makes LIR entries that are too many HIR, those asked for longest ago first.
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
    /// Takes what lies below the last LIR entry out of the stack.
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
    /// Forgets ghosts that are too many, those asked for longest ago first.
    #[inline]
    fn trim(&mut self, owner: &mut impl Owner) {
        while self.queues.len(GHOST) > self.most_ghosts
            && let Some(oldest) = self.queues.pop_back(GHOST)
        {
            self.stack.unlink(oldest);
            owner.forgotten(oldest);
        }
    }
    /// A LIR entry is asked for.
    #[inline]
    fn hit_lir(&mut self, entry: Entry, owner: &mut impl Owner) {
        self.stack.move_to_front(0, entry);
        self.prune(owner);
    }
    /// Another is asked for. It is in no queue, but it may be in the stack.
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
