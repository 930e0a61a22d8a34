//! Replacement policies, which choose the entry to evict from a cache.
//!
//! A policy identifies entries by their numbers and keeps its state in dense arrays by number,
//! which grow on demand. It chooses the victims, queries the [`Owner`] about entries, and notifies
//! it of evictions and of dropped ghosts.
//!
//! A policy is one file and one line in the list of policies below. The file has the parameters (a
//! configuration table with its doc comment and its source) and a type `State`, which implements
//! [`Replace`] and has `new(&parameters, capacity)`. [`foreign`] runs policies that are not built
//! in.

pub mod arc;
pub mod belady;
pub mod cflru;
pub mod clock;
pub mod fifo;
pub mod foreign;
pub mod gcar_cflru;
pub mod lcr;
pub mod lfu;
pub mod lirs;
pub mod lru;
pub mod s3_fifo;
pub mod sieve;
pub mod two_q;
pub mod unbounded;
mod window;

use serde::{Deserialize, Serialize};

use crate::entry::Entry;
use crate::trace::{self, Counts, Requests};

/// Owner of the entries: answers the policy's queries and receives its notifications. Except for
/// keys, a policy queries residents only.
pub trait Owner {
    /// Returns the key of an entry, by which foreign policies identify it.
    #[inline]
    fn key(&self, entry: Entry) -> u64 {
        entry.0.into()
    }
    /// Returns `true` if the data in the cache is newer than the copy in the backing store.
    #[inline]
    fn is_dirty(&self, _: Entry) -> bool {
        false
    }
    /// Returns the time that a write of the entry would wait in the backing store, in picoseconds.
    #[inline]
    fn load(&self, _: Entry) -> u64 {
        0
    }
    /// Returns a lower bound of all loads, in picoseconds. 0 means unknown; a higher bound lets a
    /// policy stop searching early.
    #[inline]
    fn least_load(&self) -> u64 {
        0
    }
    /// Returns `true` if the die to which the entry would be written is in GC.
    #[inline]
    fn is_collecting(&self, _: Entry) -> bool {
        false
    }
    /// Handles the eviction of an entry: the owner writes it back if it is dirty. Called before the
    /// new entry counts as resident, and never for the new entry.
    #[inline]
    fn evicted(&mut self, _: Entry) {}
    /// Handles an entry that the policy no longer tracks: its number can be reused. Called after
    /// `evicted`, [`Replace::remove`], [`Replace::evict`] or [`Replace::bury`], either immediately
    /// or when the entry is dropped from the ghosts. Never called for the entry that is being
    /// accessed.
    #[inline]
    fn forgotten(&mut self, _: Entry) {}
}

/// Owner without data: nothing is dirty, all loads are 0, and notifications are ignored.
impl Owner for () {}

impl<O: Owner + ?Sized> Owner for &mut O {
    fn key(&self, entry: Entry) -> u64 {
        (**self).key(entry)
    }
    fn is_dirty(&self, entry: Entry) -> bool {
        (**self).is_dirty(entry)
    }
    fn load(&self, entry: Entry) -> u64 {
        (**self).load(entry)
    }
    fn least_load(&self) -> u64 {
        (**self).least_load()
    }
    fn is_collecting(&self, entry: Entry) -> bool {
        (**self).is_collecting(entry)
    }
    fn evicted(&mut self, entry: Entry) {
        (**self).evicted(entry);
    }
    fn forgotten(&mut self, entry: Entry) {
        (**self).forgotten(entry);
    }
}

/// Replacement policy.
pub trait Replace {
    /// Handles a request for an entry. Returns `true` if the entry was resident. Otherwise it is
    /// resident afterwards, and other entries may have been evicted.
    fn access(&mut self, entry: Entry, write: bool, owner: &mut impl Owner) -> bool;
    /// Returns `true` if an entry is resident.
    fn contains(&self, entry: Entry) -> bool;
    /// Returns `true` if an entry is a ghost: not resident, but still tracked by the policy.
    fn remembers(&self, _entry: Entry) -> bool {
        false
    }
    /// Returns the number of resident entries.
    fn len(&self) -> usize;
    /// Returns `true` if no entry is resident.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Returns the maximum number of resident entries.
    fn capacity(&self) -> usize;
    /// Removes an entry (trimmed, invalidated), which is then neither resident nor a ghost. If it
    /// was one of them, the policy calls `forgotten` for it and for ghosts dropped with it, but
    /// never `evicted`.
    fn remove(&mut self, entry: Entry, owner: &mut impl Owner);
    /// Changes the capacity, which must be at least 1. Residents that no longer fit are evicted by
    /// the policy's rule.
    fn resize(&mut self, capacity: usize, owner: &mut impl Owner);

    /// Returns the queue of a resident, 0 or 1, if [`Self::suspect`] distinguishes two queues
    /// (ARC). Other policies return 0, even if they have several queues.
    fn queue(&self, _entry: Entry) -> usize {
        0
    }
    /// Marks an evicted entry as suspected: its data can still be read, and it is not a ghost
    /// before [`Self::bury`]. Returns the queue from which it was evicted. Policies that do not
    /// distinguish suspected entries from ghosts change nothing and return 0.
    fn suspect(&mut self, _entry: Entry) -> usize {
        0
    }
    /// Handles a request for a suspected entry: it is resident afterwards, and other entries may
    /// have been evicted.
    fn revive(&mut self, entry: Entry, owner: &mut impl Owner) {
        self.access(entry, false, owner);
    }
    /// Handles the end of the suspected state of an entry that was evicted from `queue`: its data
    /// can no longer be read. The entry becomes a ghost, or the policy calls `forgotten`.
    fn bury(&mut self, entry: Entry, _queue: usize, owner: &mut impl Owner) {
        if !self.remembers(entry) {
            owner.forgotten(entry);
        }
    }
    /// Handles the loss of a resident's data as if the policy had evicted the entry. It becomes a
    /// ghost, or the policy calls `forgotten`, but never `evicted`.
    fn evict(&mut self, entry: Entry, owner: &mut impl Owner) {
        self.remove(entry, owner);
    }

    /// Handles the write-back of a resident that stays in the cache. Without this notification, a
    /// policy may treat a resident that it found dirty as dirty until its eviction.
    fn cleaned(&mut self, _entry: Entry) {}

    /// Returns `true` if the policy needs [`Replace::set_next_use`] before every access.
    fn needs_next_use(&self) -> bool {
        false
    }
    /// Sets the position in the trace of the next request for the entry about to be accessed, after
    /// the current request; `u32::MAX` if there is none.
    fn set_next_use(&mut self, _next: u32) {}
    /// Runs the policy over a whole trace, from an empty cache. A policy overrides this method if
    /// its rule allows a faster way than one `access` per request; the counts must be equal.
    fn replay(mut self, requests: &Requests) -> Counts
    where
        Self: Sized,
    {
        trace::one_by_one(&mut self, requests)
    }
}

/// Operation on a policy of statically known type. [`Replacing::visit`] dispatches once per
/// operation instead of once per request.
pub trait Visit {
    /// Result of the operation.
    type Answer;
    /// Performs the operation.
    fn visit(self, policy: &mut impl Replace) -> Self::Answer;
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// Which entry does the buffer evict to make room?
            pub enum Replacement at "buffer.replacement" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        states! { $($Variant($file),)+ Foreign(foreign) }

        impl Replacing {
            /// Creates an empty cache of `capacity` entries, at least 1.
            pub fn new(policy: &Replacement, capacity: usize) -> Self {
                let capacity = capacity.max(1);
                match policy { $(Replacement::$Variant(policy) => Self::$Variant($file::State::new(policy, capacity))),+ }
            }
        }
    };
}

macro_rules! states {
    ($($Variant:ident($file:ident)),+ $(,)?) => {
        /// Policy of a cache, with its state.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[allow(missing_docs)]
        pub enum Replacing { $($Variant($file::State)),+ }

        impl Replacing {
            /// Performs an operation on the policy.
            pub fn visit<V: Visit>(&mut self, visitor: V) -> V::Answer {
                match self { $(Self::$Variant(state) => visitor.visit(state)),+ }
            }
        }

        wordline_kernel::forward! {
            impl Replace for Replacing by [$($Variant),+] {
                #[inline]
                fn access(&mut self, entry: Entry, write: bool, owner: &mut impl Owner) -> bool;
                fn contains(&self, entry: Entry) -> bool;
                fn remembers(&self, entry: Entry) -> bool;
                fn len(&self) -> usize;
                fn capacity(&self) -> usize;
                fn remove(&mut self, entry: Entry, owner: &mut impl Owner);
                fn resize(&mut self, capacity: usize, owner: &mut impl Owner) {
                    let capacity = capacity.max(1);
                    match self { $(Self::$Variant(state) => state.resize(capacity, owner)),+ }
                }
                fn queue(&self, entry: Entry) -> usize;
                fn suspect(&mut self, entry: Entry) -> usize;
                fn revive(&mut self, entry: Entry, owner: &mut impl Owner);
                fn bury(&mut self, entry: Entry, queue: usize, owner: &mut impl Owner);
                fn evict(&mut self, entry: Entry, owner: &mut impl Owner);
                fn cleaned(&mut self, entry: Entry);
                fn needs_next_use(&self) -> bool;
                fn set_next_use(&mut self, next: u32);
                fn replay(self, requests: &Requests) -> Counts;
            }
        }
    };
}

members! {
    "lru" => Lru(lru),
    "fifo" => Fifo(fifo),
    "clock" => Clock(clock),
    "arc" => Arc(arc),
    "two-q" => TwoQ(two_q),
    "lirs" => Lirs(lirs),
    "lfu" => Lfu(lfu),
    "sieve" => Sieve(sieve),
    "s3-fifo" => S3Fifo(s3_fifo),
    "belady" => Belady(belady),
    "unbounded" => Unbounded(unbounded),
    "cflru" => Cflru(cflru),
    "gcar-cflru" => GcarCflru(gcar_cflru),
    "lcr" => Lcr(lcr),
}

impl Replacing {
    /// Creates an empty cache of `capacity` entries under a foreign policy.
    pub fn foreign(maker: &foreign::Maker, capacity: usize) -> Self {
        Self::Foreign(foreign::State::new(maker, capacity))
    }
    /// Returns the fault of a foreign policy; see [`foreign::State::fault`].
    #[inline]
    pub fn fault(&self) -> Option<&foreign::Fault> {
        match self {
            Self::Foreign(state) => state.fault(),
            _ => None,
        }
    }
}

impl Default for Replacement {
    fn default() -> Self {
        Self::Lru(lru::Lru::default())
    }
}

/// Returns the share of a capacity: rounded down, at least one entry.
fn share(capacity: usize, ratio: f64) -> usize {
    ((capacity as f64 * ratio) as usize).max(1)
}
