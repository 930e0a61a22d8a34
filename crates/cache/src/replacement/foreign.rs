//! Policies that are not among the members: written elsewhere, in another language even.
//!
//! Who is resident is kept here. A foreign policy hears of requests and names who leaves; what it
//! gets wrong is a [`Fault`] and ends the run, but never makes the cache hold too much or lose
//! somebody who is dirty.

use std::fmt::Debug;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use super::{Owner, Replace};
use crate::entry::Entry;
use crate::trace::Bits;

/// Why a foreign policy cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// What it says itself.
    #[error("{0}")]
    Failed(String),
    /// It named somebody who is not there.
    #[error(
        "policy {policy}: evict names page {key}, which is not in the cache; name one that was admitted and has neither been evicted nor removed since"
    )]
    Absent {
        /// The policy.
        policy: String,
        /// Whom it named.
        key: u64,
    },
    /// A copy was made of a cache in use; the policy's own state cannot be copied.
    #[error("policy {0}: its state cannot be copied; copy the cache before its first request")]
    Copied(String),
    /// The user ended the run while the policy was at work.
    #[error("interrupted")]
    Interrupted,
}

/// What a foreign policy may ask of a resident, by its key. None of who is not resident.
pub trait View {
    /// As [`Owner::is_dirty`].
    fn is_dirty(&self, key: u64) -> Option<bool>;
    /// As [`Owner::load`], in picoseconds.
    fn load(&self, key: u64) -> Option<u64>;
    /// As [`Owner::is_collecting`].
    fn is_collecting(&self, key: u64) -> Option<bool>;
}

/// A policy that is not a member. Keys are those of [`Owner::key`].
pub trait Foreign: Debug + Send {
    /// A request for a resident.
    fn hit(&mut self, key: u64, write: bool) -> Result<(), Fault>;
    /// A request for somebody who is resident from now on; there is room.
    fn admit(&mut self, key: u64, write: bool) -> Result<(), Fault>;
    /// The resident that leaves. It is not resident any more when this has returned.
    fn evict(&mut self, view: &dyn View) -> Result<u64, Fault>;
    /// A resident is gone (trimmed, invalidated).
    fn removed(&mut self, key: u64) -> Result<(), Fault>;
}

/// Makes policies of a kind.
pub trait Make: Debug + Send + Sync {
    /// What they are called.
    fn name(&self) -> &str;
    /// One for an empty cache of `capacity` entries.
    fn make(&self, capacity: usize) -> Result<Box<dyn Foreign>, Fault>;
}

/// Somebody who makes policies. Equal to itself and its clones only.
#[derive(Clone, Debug)]
pub struct Maker(Arc<dyn Make>);

impl Maker {
    /// This one.
    pub fn new(make: impl Make + 'static) -> Self {
        Self(Arc::new(make))
    }
    /// What its policies are called.
    pub fn name(&self) -> &str {
        self.0.name()
    }
}

impl PartialEq for Maker {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
impl Eq for Maker {}

/// A foreign policy, which is asked until it is at fault.
#[derive(Debug)]
struct Guest {
    /// None if it could not be made.
    policy: Option<Box<dyn Foreign>>,
    fault: Option<Fault>,
}

impl Guest {
    #[inline]
    fn call<T>(&mut self, call: impl FnOnce(&mut dyn Foreign) -> Result<T, Fault>) -> Option<T> {
        if self.fault.is_some() {
            return None;
        }
        match call(self.policy.as_deref_mut()?) {
            Ok(answer) => Some(answer),
            Err(fault) => {
                self.fault = Some(fault);
                None
            }
        }
    }
}

/// The residents of a cache under a foreign policy.
#[derive(Debug)]
pub struct State {
    maker: Maker,
    guest: Guest,
    residents: FxHashMap<u64, Entry>,
    /// By entry.
    resident: Bits,
    /// Whether the policy has heard of anybody.
    used: bool,
    capacity: usize,
}

impl State {
    /// An empty cache of `capacity` entries; of 1 if that is zero.
    pub fn new(maker: &Maker, capacity: usize) -> Self {
        let capacity = capacity.max(1);
        let (policy, fault) = match maker.0.make(capacity) {
            Ok(policy) => (Some(policy), None),
            Err(fault) => (None, Some(fault)),
        };
        Self {
            maker: maker.clone(),
            guest: Guest { policy, fault },
            residents: FxHashMap::default(),
            resident: Bits::default(),
            used: false,
            capacity,
        }
    }
    /// What the policy has got wrong. From then on it is not asked any more, and what the cache does
    /// says nothing about it.
    #[inline]
    pub fn fault(&self) -> Option<&Fault> {
        self.guest.fault.as_ref()
    }
    /// Who leaves; anybody if the policy is at fault.
    fn choose(&mut self, owner: &impl Owner) -> Option<(u64, Entry)> {
        let residents = &self.residents;
        let view = Residents { residents, owner };
        if let Some(key) = self.guest.call(|policy| policy.evict(&view)) {
            if let Some(&entry) = residents.get(&key) {
                return Some((key, entry));
            }
            let policy = self.maker.name().to_owned();
            self.guest.fault = Some(Fault::Absent { policy, key });
        }
        let anybody = self.residents.iter().next();
        anybody.map(|(&key, &entry)| (key, entry))
    }
    /// Evicts until `count` are resident or fewer.
    fn shrink(&mut self, count: usize, owner: &mut impl Owner) {
        while self.len() > count
            && let Some((key, entry)) = self.choose(owner)
        {
            self.residents.remove(&key);
            self.resident.remove(entry.index());
            owner.evicted(entry);
            owner.forgotten(entry);
        }
    }
}

/// A new policy of the same maker while nothing was requested; afterwards the copy is at fault.
impl Clone for State {
    fn clone(&self) -> Self {
        let fresh = Self::new(&self.maker, self.capacity);
        if !self.used {
            return fresh;
        }
        let copied = || Fault::Copied(self.maker.name().to_owned());
        let fault = self.guest.fault.clone().unwrap_or_else(copied);
        Self {
            guest: Guest {
                policy: None,
                fault: Some(fault),
            },
            residents: self.residents.clone(),
            resident: self.resident.clone(),
            used: true,
            ..fresh
        }
    }
}

/// What comes from outside cannot be written or read: writing is always an error, and so is reading.
macro_rules! outside {
    ($Type:ident, $name:expr) => {
        impl Serialize for $Type {
            fn serialize<S: Serializer>(&self, _serializer: S) -> Result<S::Ok, S::Error> {
                let name: &dyn Fn(&Self) -> String = &$name;
                let policy = name(self);
                let reason =
                    format!("policy {policy} is not built in: its state cannot be written");
                Err(serde::ser::Error::custom(reason))
            }
        }
        impl<'de> Deserialize<'de> for $Type {
            fn deserialize<D: Deserializer<'de>>(_deserializer: D) -> Result<Self, D::Error> {
                let reason = "the state of a policy that is not built in cannot be read";
                Err(serde::de::Error::custom(reason))
            }
        }
    };
}

outside!(Maker, |maker| maker.name().to_owned());
outside!(State, |state| state.maker.name().to_owned());

impl Replace for State {
    #[inline]
    fn access(&mut self, entry: Entry, write: bool, owner: &mut impl Owner) -> bool {
        let key = owner.key(entry);
        if self.contains(entry) {
            self.guest.call(|policy| policy.hit(key, write));
            return true;
        }
        self.used = true;
        self.shrink(self.capacity - 1, owner);
        self.guest.call(|policy| policy.admit(key, write));
        self.residents.insert(key, entry);
        self.resident.insert(entry.index());
        false
    }
    #[inline]
    fn contains(&self, entry: Entry) -> bool {
        self.resident.get(entry.index())
    }
    fn len(&self) -> usize {
        self.residents.len()
    }
    fn capacity(&self) -> usize {
        self.capacity
    }
    fn remove(&mut self, entry: Entry, owner: &mut impl Owner) {
        if self.contains(entry) {
            let key = owner.key(entry);
            self.residents.remove(&key);
            self.resident.remove(entry.index());
            self.guest.call(|policy| policy.removed(key));
            owner.forgotten(entry);
        }
    }
    /// The policy names who leaves; it is not told of the capacity.
    fn resize(&mut self, capacity: usize, owner: &mut impl Owner) {
        self.capacity = capacity.max(1);
        self.shrink(self.capacity, owner);
    }
}

/// What the owner knows, by key.
struct Residents<'a, O> {
    residents: &'a FxHashMap<u64, Entry>,
    owner: &'a O,
}

impl<O: Owner> View for Residents<'_, O> {
    fn is_dirty(&self, key: u64) -> Option<bool> {
        let entry = self.residents.get(&key)?;
        Some(self.owner.is_dirty(*entry))
    }
    fn load(&self, key: u64) -> Option<u64> {
        let entry = self.residents.get(&key)?;
        Some(self.owner.load(*entry))
    }
    fn is_collecting(&self, key: u64) -> Option<bool> {
        let entry = self.residents.get(&key)?;
        Some(self.owner.is_collecting(*entry))
    }
}
