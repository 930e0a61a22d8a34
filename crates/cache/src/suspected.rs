//! Evicted entries that can still be read: suspected queues.
//!
//! In flash, what leaves a cache stays where it is until its block is erased. A suspected queue keeps such
//! entries, beside any policy, and a request for one of them revives it: nothing is read from below, and
//! nothing is programmed (Q. Xia, Towards Design and Analysis for High-Performance and Reliable SSDs, 2017,
//! chapter 2). Under LRU this is the source's FLRU, under ARC its FARC.
//!
//! The printed algorithms differ from this in four places. An entry that is revived leaves its queue before another
//! enters it, else a full queue would drop the one it needs (algorithm 1, lines 6 and 7). Room is tested before every eviction,
//! else room that an erase has made would never be used (algorithm 2, lines 13, 23, 27). Where the listing of ARC departs from Megiddo and Modha's, theirs
//! is followed (lines 32 and 45). What a full queue drops is a ghost like what an erase takes, so that FARC with an empty
//! queue is ARC.

use serde::{Deserialize, Serialize};

use crate::entry::Entry;
use crate::halves::Halves;
use crate::list::Lists;
use crate::replacement::{Owner, Replace, Replacing};

/// What a request has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Found {
    /// A resident.
    Resident,
    /// A suspected entry, which is resident again.
    Suspected,
    /// Nothing that can be read.
    Nothing,
}

/// Where the copies of the entries are.
pub trait Copies {
    /// Whether the copy of a resident is newer than what lies below.
    #[inline]
    fn is_dirty(&self, _entry: Entry) -> bool {
        false
    }
    /// An entry leaves the residents. With `suspect` its copy is to stay readable if it can; whether it does.
    fn evicted(&mut self, entry: Entry, suspect: bool) -> bool;
    /// A suspected entry is resident again.
    fn revived(&mut self, entry: Entry);
    /// A suspected entry is not needed any more.
    fn discarded(&mut self, entry: Entry);
    /// Nothing is remembered of an entry: its number may be given to another key.
    fn forgotten(&mut self, entry: Entry);
}

/// A policy and its suspected queues.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Suspecting {
    policy: Replacing,
    /// The suspected entries by the list of the policy that they left, the last to leave in front.
    queues: Lists<2>,
    /// How many may be suspected.
    most: usize,
    halves: Option<Halves>,
    left: Left,
}

/// What a policy has let go of, until it is dealt with.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Left {
    evicted: Vec<Entry>,
    forgotten: Vec<Entry>,
}

/// Hears what the policy lets go of, and answers what it asks.
struct Listener<'a, C>(&'a mut Left, &'a C);

impl<C: Copies> Owner for Listener<'_, C> {
    #[inline]
    fn is_dirty(&self, entry: Entry) -> bool {
        self.1.is_dirty(entry)
    }
    #[inline]
    fn evicted(&mut self, entry: Entry) {
        self.0.evicted.push(entry);
    }
    #[inline]
    fn forgotten(&mut self, entry: Entry) {
        self.0.forgotten.push(entry);
    }
}

impl Suspecting {
    /// A policy that has not seen anything, with up to `most` suspected entries. `halves`: whether
    /// [`Suspecting::is_hot`] will be asked.
    pub fn new(policy: Replacing, most: usize, halves: bool) -> Self {
        Self {
            policy,
            queues: Lists::new(),
            most,
            halves: halves.then(Halves::default),
            left: Left::default(),
        }
    }
    /// How many are resident.
    pub fn len(&self) -> usize {
        self.policy.len()
    }
    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// How many may be resident.
    pub fn capacity(&self) -> usize {
        self.policy.capacity()
    }
    /// How many are suspected.
    pub fn suspected(&self) -> usize {
        self.queues.len(0) + self.queues.len(1)
    }
    /// Whether an entry is resident.
    pub fn contains(&self, entry: Entry) -> bool {
        self.policy.contains(entry)
    }
    /// Whether an entry is suspected.
    pub fn suspects(&self, entry: Entry) -> bool {
        self.queues.contains(entry)
    }
    /// Whether a resident is in the hot half of its queue.
    ///
    /// # Panics
    /// If halves are not kept.
    pub fn is_hot(&self, entry: Entry) -> bool {
        let halves = self.halves.as_ref();
        halves.is_some_and(|halves| halves.is_hot(entry))
    }

    /// A request for an entry, which is resident afterwards.
    #[inline]
    pub fn access(&mut self, entry: Entry, write: bool, copies: &mut impl Copies) -> Found {
        let suspected = self.queues.contains(entry);
        let owner = &mut Listener(&mut self.left, &*copies);
        if suspected {
            self.queues.unlink(entry);
            self.policy.revive(entry, owner);
        } else if self.policy.access(entry, write, owner) {
            self.touch(entry);
            if !self.left.forgotten.is_empty() {
                self.forget(copies); // a hit can end the memory of ghosts, under LIRS
            }
            return Found::Resident;
        }
        self.settle(copies);
        self.touch(entry);
        if suspected {
            copies.revived(entry);
            return Found::Suspected;
        }
        Found::Nothing
    }
    /// The copy of an entry is gone with its block. Of a resident, `ghost` says whether the policy remembers it as one that it has evicted.
    pub fn erased(&mut self, entry: Entry, ghost: bool, copies: &mut impl Copies) {
        if let Some(queue) = self.queues.list(entry) {
            self.queues.unlink(entry);
            self.bury(entry, queue, copies);
            return;
        }
        self.leave_halves(entry);
        let owner = &mut Listener(&mut self.left, &*copies);
        if ghost {
            self.policy.evict(entry, owner);
        } else {
            self.policy.remove(entry, owner);
        }
        self.settle(copies);
    }
    /// Changes how many may be resident, at least 1. Those that do not fit are evicted by the rule of the policy.
    pub fn resize(&mut self, capacity: usize, copies: &mut impl Copies) {
        let owner = &mut Listener(&mut self.left, &*copies);
        self.policy.resize(capacity, owner);
        self.settle(copies);
    }
    /// Whether an entry is resident, suspected or remembered.
    pub fn knows(&self, entry: Entry) -> bool {
        self.contains(entry) || self.suspects(entry) || self.policy.remembers(entry)
    }
    /// An entry goes to another cache with its copy: it is neither resident nor suspected nor remembered here.
    pub fn give_up(&mut self, entry: Entry, copies: &mut impl Copies) {
        if self.queues.contains(entry) {
            self.queues.unlink(entry);
        }
        self.leave_halves(entry);
        let owner = &mut Listener(&mut self.left, &*copies);
        self.policy.remove(entry, owner);
        self.left.forgotten.retain(|other| *other != entry);
        self.settle(copies);
    }
    /// A resident is as old as what lies below.
    pub fn cleaned(&mut self, entry: Entry) {
        self.policy.cleaned(entry);
    }
    /// An entry that left the residents while its copy was dirty is clean now: its copy may stay readable as that of any other.
    pub fn left_clean(&mut self, entry: Entry, copies: &mut impl Copies) {
        if copies.evicted(entry, self.most > 0) {
            let queue = self.policy.suspect(entry);
            self.queues.push_front(queue, entry);
            self.bound(copies);
        } else if !self.policy.remembers(entry) {
            copies.forgotten(entry);
        }
    }
    /// An entry is gone (trimmed, overwritten below): neither resident nor suspected nor remembered. Nothing if it is none of them.
    pub fn remove(&mut self, entry: Entry, copies: &mut impl Copies) {
        if self.queues.contains(entry) {
            self.queues.unlink(entry);
            copies.discarded(entry);
            if !self.policy.remembers(entry) {
                copies.forgotten(entry);
            }
        } else if self.policy.contains(entry) {
            self.leave_halves(entry);
            copies.evicted(entry, false);
        }
        let owner = &mut Listener(&mut self.left, &*copies);
        self.policy.remove(entry, owner);
        self.settle(copies);
    }

    fn touch(&mut self, entry: Entry) {
        if let Some(halves) = &mut self.halves {
            halves.touch(self.policy.queue(entry), entry);
        }
    }
    fn leave_halves(&mut self, entry: Entry) {
        if let Some(halves) = &mut self.halves {
            halves.leave(entry);
        }
    }
    /// Deals with what the policy has let go of.
    fn settle(&mut self, copies: &mut impl Copies) {
        let mut evicted = std::mem::take(&mut self.left.evicted);
        for entry in evicted.drain(..) {
            self.leave_halves(entry);
            if copies.evicted(entry, self.most > 0) {
                let queue = self.policy.suspect(entry);
                self.queues.push_front(queue, entry);
            }
        }
        self.left.evicted = evicted;
        self.forget(copies);
        self.bound(copies);
    }
    /// Tells of what the policy has forgotten, but for what is suspected.
    fn forget(&mut self, copies: &mut impl Copies) {
        while let Some(entry) = self.left.forgotten.pop() {
            if !self.queues.contains(entry) {
                copies.forgotten(entry);
            }
        }
    }
    /// Drops the oldest of the longer queue while too many are suspected.
    fn bound(&mut self, copies: &mut impl Copies) {
        while self.suspected() > self.most {
            let longer = usize::from(self.queues.len(1) > self.queues.len(0));
            let Some(oldest) = self.queues.pop_back(longer) else {
                return;
            };
            copies.discarded(oldest);
            self.bury(oldest, longer, copies);
        }
    }
    /// An entry is suspected no more, and maybe a ghost now.
    fn bury(&mut self, entry: Entry, queue: usize, copies: &mut impl Copies) {
        let owner = &mut Listener(&mut self.left, &*copies);
        self.policy.bury(entry, queue, owner);
        self.forget(copies);
    }
}
