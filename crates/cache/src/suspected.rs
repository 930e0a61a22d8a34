//! Suspected queues: evicted entries that can still be read.
//!
//! In flash, the data of an evicted entry stays readable until its block is erased. A suspected
//! queue holds such entries, in addition to any policy. A request for one of them revives it:
//! nothing is read from the backing store, and nothing is programmed (Q. Xia, Towards Design and
//! Analysis for High-Performance and Reliable SSDs, 2017, chapter 2). With LRU this is the source's
//! FLRU, with ARC its FARC.
//!
//! The implementation differs from the printed algorithms in four points. A revived entry leaves
//! its queue before another entry enters it; otherwise a full queue would drop the revived entry
//! (algorithm 1, lines 6 and 7). Free space is tested before every eviction; otherwise space freed
//! by an erase would never be used (algorithm 2, lines 13, 23, 27). Where the listing of ARC
//! departs from that of Megiddo and Modha, theirs is used (lines 32 and 45). An entry dropped by a
//! full queue becomes a ghost, as does one lost to an erase, so that FARC with an empty queue is
//! ARC.

use serde::{Deserialize, Serialize};

use crate::entry::Entry;
use crate::halves::Halves;
use crate::list::Lists;
use crate::replacement::{Owner, Replace, Replacing};

/// Result of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Found {
    /// The entry was resident.
    Resident,
    /// The entry was suspected and is resident again.
    Suspected,
    /// The entry was neither resident nor suspected.
    Nothing,
}

/// Owner of the entries' copies in flash: answers queries and receives notifications.
pub trait Copies {
    /// Returns `true` if the cached copy of a resident is newer than the copy in the backing store.
    #[inline]
    fn is_dirty(&self, _entry: Entry) -> bool {
        false
    }
    /// Handles an entry that is evicted or removed, or that is cleaned after its eviction. If
    /// `suspect` is `true`, the copy should stay readable if possible. Returns `true` if it stays
    /// readable.
    fn evicted(&mut self, entry: Entry, suspect: bool) -> bool;
    /// Handles a suspected entry that becomes resident again.
    fn revived(&mut self, entry: Entry);
    /// Handles a suspected entry whose copy is no longer needed.
    fn discarded(&mut self, entry: Entry);
    /// Handles an entry that is no longer tracked: its number can be reused.
    fn forgotten(&mut self, entry: Entry);
}

/// Policy with its suspected queues.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Suspecting {
    policy: Replacing,
    /// Suspected entries, the most recently evicted at the front. The queue of an entry is the one
    /// that [`Replace::suspect`] returned for it.
    queues: Lists<2>,
    /// Maximum number of suspected entries.
    most: usize,
    halves: Option<Halves>,
    left: Left,
}

/// Entries that the policy has evicted or dropped and that are not processed yet.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Left {
    evicted: Vec<Entry>,
    forgotten: Vec<Entry>,
}

/// Owner that records the policy's evictions and answers its queries.
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
    /// Creates empty suspected queues for a policy that has not seen any request. `most` is the
    /// maximum number of suspected entries. `halves` states whether [`Suspecting::is_hot`] is
    /// supported.
    pub fn new(policy: Replacing, most: usize, halves: bool) -> Self {
        Self {
            policy,
            queues: Lists::new(),
            most,
            halves: halves.then(Halves::default),
            left: Left::default(),
        }
    }
    /// Returns the number of resident entries.
    pub fn len(&self) -> usize {
        self.policy.len()
    }
    /// Returns `true` if no entry is resident.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Returns the maximum number of resident entries.
    pub fn capacity(&self) -> usize {
        self.policy.capacity()
    }
    /// Returns the number of suspected entries.
    pub fn suspected(&self) -> usize {
        self.queues.len(0) + self.queues.len(1)
    }
    /// Returns `true` if an entry is resident.
    pub fn contains(&self, entry: Entry) -> bool {
        self.policy.contains(entry)
    }
    /// Returns `true` if an entry is suspected.
    pub fn suspects(&self, entry: Entry) -> bool {
        self.queues.contains(entry)
    }
    /// Returns `true` if a resident is in the hot half of its queue. Always `false` if the queues
    /// were created without `halves`.
    pub fn is_hot(&self, entry: Entry) -> bool {
        let halves = self.halves.as_ref();
        halves.is_some_and(|halves| halves.is_hot(entry))
    }

    /// Handles a request for an entry, which is resident afterwards.
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
                self.forget(copies); // a hit under LIRS can drop ghosts
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
    /// Handles the erase of the block with an entry's copy. `ghost` states whether the policy keeps
    /// a resident that is lost this way as a ghost.
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
    /// Changes the maximum number of residents; 0 counts as 1. The policy chooses which residents
    /// to evict.
    pub fn resize(&mut self, capacity: usize, copies: &mut impl Copies) {
        let owner = &mut Listener(&mut self.left, &*copies);
        self.policy.resize(capacity, owner);
        self.settle(copies);
    }
    /// Returns `true` if an entry is resident, suspected or a ghost.
    pub fn knows(&self, entry: Entry) -> bool {
        self.contains(entry) || self.suspects(entry) || self.policy.remembers(entry)
    }
    /// Removes an entry whose copy another cache takes over. `copies` is not notified of the entry,
    /// which is then neither resident nor suspected nor a ghost in this cache.
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
    /// Marks a resident as clean: the backing store has the same data.
    pub fn cleaned(&mut self, entry: Entry) {
        self.policy.cleaned(entry);
    }
    /// Marks an entry that was evicted while dirty as clean, so that its copy can stay readable.
    pub fn left_clean(&mut self, entry: Entry, copies: &mut impl Copies) {
        if copies.evicted(entry, self.most > 0) {
            let queue = self.policy.suspect(entry);
            self.queues.push_front(queue, entry);
            self.bound(copies);
        } else if !self.policy.remembers(entry) {
            copies.forgotten(entry);
        }
    }
    /// Removes an entry that was trimmed or overwritten in the backing store. Does nothing if the
    /// entry is neither resident nor suspected nor a ghost.
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
    /// Processes the entries that the policy has evicted or dropped.
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
    /// Notifies the owner of entries that the policy has dropped, except suspected ones.
    fn forget(&mut self, copies: &mut impl Copies) {
        while let Some(entry) = self.left.forgotten.pop() {
            if !self.queues.contains(entry) {
                copies.forgotten(entry);
            }
        }
    }
    /// Drops the oldest entries of the longer queue until the number of suspected entries is within
    /// its maximum.
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
    /// Ends the suspected state of an entry. The policy may keep the entry as a ghost.
    fn bury(&mut self, entry: Entry, queue: usize, copies: &mut impl Copies) {
        let owner = &mut Listener(&mut self.left, &*copies);
        self.policy.bury(entry, queue, owner);
        self.forget(copies);
    }
}
