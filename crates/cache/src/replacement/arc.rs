//! ARC, the adaptive replacement cache.

mod replay;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Owner, Replace};
use crate::entry::Entry;
use crate::list::Lists;
use crate::trace::{self, Counts, Requests};

/// Adaptation rule of `p`, the share of the cache for entries requested once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Adaptation {
    /// Step of |B2| / |B1| (or its inverse), at least 1, as a real number, as in the paper.
    #[default]
    Real,
    /// Step of the same quotient, rounded down, so that the share is a whole number of entries.
    Integer,
}

/// Keeps two lists of residents, one of entries requested once and one of entries requested again,
/// and for each a ghost list of the entries evicted from it. The number of ghosts is at most the
/// capacity. The share `p` of the cache is for entries requested once. A hit on a ghost of such an
/// entry raises `p`; a hit on another ghost lowers it. Space freed by a removal is filled before
/// the next eviction. When the cache shrinks, residents are evicted by the same rule, then `p` is
/// limited to the capacity, then ghosts are dropped until the paper's bounds hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Arc {
    /// Type of the share `p`: `real`, as in the paper, or `integer`. Implementations differ in this
    /// respect; the hit ratios differ by up to 2.5 percentage points.
    pub p: Adaptation,
}

impl Cited for Arc {
    const PAPER: &'static str =
        "N. Megiddo and D. Modha, ARC: A self-tuning, low overhead replacement cache, FAST 2003";
}

/// Returns the number of entries by which a hit in a ghost list of length `hit` moves the share;
/// `other` is the length of the other ghost list.
fn step(adaptation: Adaptation, hit: usize, other: usize) -> f64 {
    let quotient = other as f64 / hit as f64;
    match adaptation {
        Adaptation::Real => quotient.max(1.0),
        Adaptation::Integer => quotient.floor().max(1.0),
    }
}

/// Residents requested once.
const T1: usize = 0;
/// Residents requested again.
const T2: usize = 1;
/// Ghosts of `T1`.
const B1: usize = 2;
/// Ghosts of `T2`.
const B2: usize = 3;

/// The four lists, with the most recent entry at the front.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    lists: Lists<4>,
    adaptation: Adaptation,
    capacity: usize,
    p: f64,
}

impl State {
    /// Creates an empty cache of `capacity` entries.
    pub fn new(policy: &Arc, capacity: usize) -> Self {
        Self {
            lists: Lists::new(),
            adaptation: policy.p,
            capacity,
            p: 0.0,
        }
    }
    fn step(&self, hit: usize, other: usize) -> f64 {
        step(self.adaptation, self.lists.len(hit), self.lists.len(other))
    }
    /// Evicts one entry and makes it a ghost. `in_b2` states whether the request hit `B2`.
    fn replace(&mut self, in_b2: bool, owner: &mut impl Owner) {
        let once = self.lists.len(T1) as f64;
        let over = once > self.p || in_b2 && once == self.p;
        let from_t1 = over && once > 0.0 || self.lists.is_empty(T2);
        let (from, to) = if from_t1 { (T1, B1) } else { (T2, B2) };
        if let Some(victim) = self.lists.back(from) {
            self.lists.move_to_front(to, victim);
            owner.evicted(victim);
        }
    }
    /// Evicts one entry if the cache is full.
    fn make_room(&mut self, in_b2: bool, owner: &mut impl Owner) {
        if self.len() >= self.capacity {
            self.replace(in_b2, owner);
        }
    }
    fn forget(&mut self, ghosts: usize, owner: &mut impl Owner) {
        if let Some(oldest) = self.lists.pop_back(ghosts) {
            owner.forgotten(oldest);
        }
    }
    /// Returns the number of residents and ghosts of the first list, |T1| + |B1|.
    fn first(&self) -> usize {
        self.lists.len(T1) + self.lists.len(B1)
    }
    fn all(&self) -> usize {
        self.first() + self.lists.len(T2) + self.lists.len(B2)
    }
    /// Drops ghosts until the paper's bounds hold.
    fn trim_ghosts(&mut self, owner: &mut impl Owner) {
        while self.first() > self.capacity && !self.lists.is_empty(B1) {
            self.forget(B1, owner);
        }
        while self.all() > 2 * self.capacity && !self.lists.is_empty(B2) {
            self.forget(B2, owner);
        }
    }
    /// Makes room for an entry that is neither resident nor a ghost.
    fn admit(&mut self, owner: &mut impl Owner) {
        if self.lists.len(T1) == self.capacity {
            if let Some(oldest) = self.lists.pop_back(T1) {
                owner.evicted(oldest);
                owner.forgotten(oldest);
            }
            return;
        }
        if self.first() == self.capacity {
            self.forget(B1, owner);
        } else if self.all() == 2 * self.capacity {
            self.forget(B2, owner);
        }
        self.make_room(false, owner);
    }
}

impl Replace for State {
    #[inline]
    fn access(&mut self, entry: Entry, _write: bool, owner: &mut impl Owner) -> bool {
        match self.lists.list(entry) {
            Some(T1 | T2) => {
                self.lists.move_to_front(T2, entry);
                return true;
            }
            Some(B1) => {
                self.p = (self.p + self.step(B1, B2)).min(self.capacity as f64);
                self.make_room(false, owner);
                self.lists.move_to_front(T2, entry);
            }
            Some(_) => {
                self.p = (self.p - self.step(B2, B1)).max(0.0);
                self.make_room(true, owner);
                self.lists.move_to_front(T2, entry);
            }
            None => {
                self.admit(owner);
                self.lists.push_front(T1, entry);
            }
        }
        false
    }
    #[inline]
    fn contains(&self, entry: Entry) -> bool {
        matches!(self.lists.list(entry), Some(T1 | T2))
    }
    fn remembers(&self, entry: Entry) -> bool {
        matches!(self.lists.list(entry), Some(B1 | B2))
    }
    fn len(&self) -> usize {
        self.lists.len(T1) + self.lists.len(T2)
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
        while self.len() > capacity {
            self.replace(false, owner);
        }
        self.p = self.p.min(capacity as f64);
        self.trim_ghosts(owner);
    }
    fn queue(&self, entry: Entry) -> usize {
        usize::from(self.lists.list(entry) == Some(T2))
    }
    fn suspect(&mut self, entry: Entry) -> usize {
        let from = self.lists.list(entry);
        self.lists.unlink(entry);
        usize::from(from == Some(B2))
    }
    /// Makes a suspected entry resident. Does not move `p` (Xia 2017, algorithm 2, case IV).
    fn revive(&mut self, entry: Entry, owner: &mut impl Owner) {
        let has_room = self.len() < self.capacity;
        self.make_room(false, owner);
        self.lists.push_front(T2, entry);
        // If the cache was full, another entry becomes suspected instead, and the number of
        // residents and ghosts is unchanged.
        if has_room {
            self.trim_ghosts(owner);
        }
    }
    fn bury(&mut self, entry: Entry, queue: usize, owner: &mut impl Owner) {
        self.lists.push_front(B1 + queue, entry);
        self.trim_ghosts(owner);
    }
    fn evict(&mut self, entry: Entry, owner: &mut impl Owner) {
        let ghosts = if self.queue(entry) == 0 { B1 } else { B2 };
        self.lists.move_to_front(ghosts, entry);
        self.trim_ghosts(owner);
    }
    fn replay(mut self, requests: &Requests) -> Counts {
        let empty = self.all() == 0;
        let counts = empty.then(|| replay::replay(self.adaptation, self.capacity, requests));
        let counts = counts.flatten();
        counts.unwrap_or_else(|| trace::one_by_one(&mut self, requests))
    }
}
