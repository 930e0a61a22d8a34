//! Which entry leaves a cache when another needs its place.
//!
//! A policy knows entries by their numbers and keeps all its state in dense arrays by number, grown
//! on demand. It decides who leaves; it asks the [`Owner`] what it needs to know of an entry, and
//! tells it who left and of whom it remembers nothing.
//!
//! A policy is one file with its parameters (a config table, its doc comment and its source) and a
//! type `State` that implements [`Replace`] and has `new(&parameters, capacity)`; and one line in
//! the list of members below. Policies written elsewhere are [`foreign`].

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

/// Who owns the entries: what a policy may ask of them, and what it is told. A policy asks only
/// about residents.
pub trait Owner {
    /// The key that an entry stands for; policies that are not members know it by that.
    #[inline]
    fn key(&self, entry: Entry) -> u64 {
        entry.0.into()
    }
    /// Whether what the cache holds is newer than what lies below it.
    #[inline]
    fn is_dirty(&self, _: Entry) -> bool {
        false
    }
    /// How long a write of the entry would have to wait below, in picoseconds.
    #[inline]
    fn load(&self, _: Entry) -> u64 {
        0
    }
    /// No entry has a smaller load. Zero says nothing; a greater bound lets a policy stop searching.
    #[inline]
    fn least_load(&self) -> u64 {
        0
    }
    /// Whether the place it would be written to is being collected.
    #[inline]
    fn is_collecting(&self, _: Entry) -> bool {
        false
    }
    /// It leaves the cache; the owner writes it back if it is dirty. Called before the newcomer
    /// counts as resident, and never for the newcomer.
    #[inline]
    fn evicted(&mut self, _: Entry) {}
    /// The policy remembers nothing of it: its number may be given to another key. Called after
    /// `evicted` or during `remove`, at once or when the entry leaves the ghosts; never for the
    /// entry that is being accessed.
    #[inline]
    fn forgotten(&mut self, _: Entry) {}
}

/// Nobody: nothing is dirty, nothing is loaded, nothing is heard.
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

/// A replacement policy.
pub trait Replace {
    /// A request for an entry: whether it was resident. If not, it is afterwards, and others may
    /// have been evicted for it.
    fn access(&mut self, entry: Entry, write: bool, owner: &mut impl Owner) -> bool;
    /// Whether an entry is resident.
    fn contains(&self, entry: Entry) -> bool;
    /// Whether an entry is a ghost: not resident, but known.
    fn remembers(&self, _entry: Entry) -> bool {
        false
    }
    /// How many are resident.
    fn len(&self) -> usize;
    /// Whether none is resident.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// How many may be resident.
    fn capacity(&self) -> usize;
    /// The entry is gone (trimmed, invalidated): neither resident nor ghost afterwards. If it was
    /// known, the owner hears `forgotten` of it, and of ghosts that are forgotten with it, but never `evicted`.
    fn remove(&mut self, entry: Entry, owner: &mut impl Owner);
    /// Changes the capacity, at least 1. Residents that do not fit are evicted by the policy's rule.
    fn resize(&mut self, capacity: usize, owner: &mut impl Owner);

    /// The queue that a resident is in, of a policy that has two: 0 or 1.
    fn queue(&self, _entry: Entry) -> usize {
        0
    }
    /// An entry that the policy has just evicted can still be read, and is not a ghost before that ends:
    /// which of its queues it left. Policies that do not tell suspected entries from ghosts keep it as a ghost.
    fn suspect(&mut self, _entry: Entry) -> usize {
        0
    }
    /// A suspected entry is requested: it is resident afterwards, and others may have been evicted for it.
    fn revive(&mut self, entry: Entry, owner: &mut impl Owner) {
        self.access(entry, false, owner);
    }
    /// A suspected entry, which left `queue`, cannot be read any more: it is a ghost, or the owner hears `forgotten`.
    fn bury(&mut self, entry: Entry, _queue: usize, owner: &mut impl Owner) {
        if !self.remembers(entry) {
            owner.forgotten(entry);
        }
    }
    /// A resident is gone from below the policy, which takes it for one that it has evicted: it is a ghost, or the owner
    /// hears `forgotten`, but never `evicted`.
    fn evict(&mut self, entry: Entry, owner: &mut impl Owner) {
        self.remove(entry, owner);
    }

    /// The owner has written a resident back and keeps it. Policies may take a resident that they
    /// found dirty for dirty until it leaves, unless they hear of this.
    fn cleaned(&mut self, _entry: Entry) {}

    /// Whether the policy has to be told what lies ahead, before every access.
    fn needs_next_use(&self) -> bool {
        false
    }
    /// The position of the next request of the entry about to be accessed, after this one;
    /// `u32::MAX` if there is none.
    fn set_next_use(&mut self, _next: u32) {}
    /// A whole trace. A policy whose rule allows something faster than one `access` after the other
    /// overrides this, for an empty cache and with the same counts.
    fn replay(mut self, requests: &Requests) -> Counts
    where
        Self: Sized,
    {
        trace::one_by_one(&mut self, requests)
    }
}

/// Something to do with a policy whose type it is told: [`Replacing::visit`] chooses once, instead
/// of at every request.
pub trait Visit {
    /// What comes of it.
    type Answer;
    /// Does it.
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
            /// An empty cache of `capacity` entries; of 1 if that is zero.
            pub fn new(policy: &Replacement, capacity: usize) -> Self {
                let capacity = capacity.max(1);
                match policy { $(Replacement::$Variant(policy) => Self::$Variant($file::State::new(policy, capacity))),+ }
            }
        }
    };
}

macro_rules! states {
    ($($Variant:ident($file:ident)),+ $(,)?) => {
        /// The policy of a cache, with its state.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[allow(missing_docs)]
        pub enum Replacing { $($Variant($file::State)),+ }

        impl Replacing {
            /// Does something that knows the type of the policy.
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
    /// An empty cache of `capacity` entries under a policy that is not a member.
    pub fn foreign(maker: &foreign::Maker, capacity: usize) -> Self {
        Self::Foreign(foreign::State::new(maker, capacity))
    }
    /// What a policy that is not a member has got wrong; see [`foreign::State::fault`].
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

/// A part of a capacity, rounded down, at least one entry.
fn share(capacity: usize, ratio: f64) -> usize {
    ((capacity as f64 * ratio) as usize).max(1)
}
