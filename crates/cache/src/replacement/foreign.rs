//! Foreign policies: policies that are not built in, possibly written in another language.
//!
//! This module keeps the set of residents. A foreign policy is notified of requests and names the
//! victims. An invalid victim is a [`Fault`] and ends the run, but the cache never exceeds its
//! capacity and never loses a dirty entry.

use std::fmt::Debug;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use super::{Owner, Replace};
use crate::entry::Entry;
use crate::trace::Bits;

/// Reason why a foreign policy cannot continue.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// Error raised by the policy.
    #[error("{0}")]
    Failed(String),
    /// The policy chose a victim that is not resident.
    #[error(
        "policy {policy}: evict names page {key}, which is not in the cache; name one that was admitted and has neither been evicted nor removed since"
    )]
    Absent {
        /// Name of the policy.
        policy: String,
        /// Key that the policy named.
        key: u64,
    },
    /// A cache in use was copied; the state of the policy itself cannot be copied.
    #[error("policy {0}: its state cannot be copied; copy the cache before its first request")]
    Copied(String),
    /// The user interrupted the run while the policy was executing.
    #[error("interrupted")]
    Interrupted,
}

/// Answers a foreign policy's queries about residents, identified by their keys. Each method
/// returns `None` if the key is not resident.
pub trait View {
    /// See [`Owner::is_dirty`].
    fn is_dirty(&self, key: u64) -> Option<bool>;
    /// See [`Owner::load`]; in picoseconds.
    fn load(&self, key: u64) -> Option<u64>;
    /// See [`Owner::is_collecting`].
    fn is_collecting(&self, key: u64) -> Option<bool>;
}

/// Policy that is not built in. Keys are those of [`Owner::key`].
pub trait Foreign: Debug + Send {
    /// Handles a request for a resident.
    fn hit(&mut self, key: u64, write: bool) -> Result<(), Fault>;
    /// Handles a request for a key that becomes resident; there is room for it.
    fn admit(&mut self, key: u64, write: bool) -> Result<(), Fault>;
    /// Chooses the victim and returns its key. The victim is no longer resident after the call.
    fn evict(&mut self, view: &dyn View) -> Result<u64, Fault>;
    /// Handles the removal of a resident that was trimmed or invalidated, or whose data was lost.
    fn removed(&mut self, key: u64) -> Result<(), Fault>;
}

/// Factory of foreign policies.
pub trait Make: Debug + Send + Sync {
    /// Returns the name of the policies that the factory creates.
    fn name(&self) -> &str;
    /// Creates a policy for an empty cache of `capacity` entries.
    fn make(&self, capacity: usize) -> Result<Box<dyn Foreign>, Fault>;
}

/// Shared factory of foreign policies. Equal only to itself and its clones.
#[derive(Clone, Debug)]
pub struct Maker(Arc<dyn Make>);

impl Maker {
    /// Wraps a factory.
    pub fn new(make: impl Make + 'static) -> Self {
        Self(Arc::new(make))
    }
    /// Returns the name of the policies that the factory creates.
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

/// Foreign policy and its first fault, after which it is not called again.
#[derive(Debug)]
struct Guest {
    /// `None` if the policy could not be created or copied.
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

/// Residents of a cache under a foreign policy.
#[derive(Debug)]
pub struct State {
    maker: Maker,
    guest: Guest,
    residents: FxHashMap<u64, Entry>,
    /// Numbers of the resident entries.
    resident: Bits,
    /// Whether the policy has seen a request.
    used: bool,
    capacity: usize,
}

impl State {
    /// Creates an empty cache of `capacity` entries, at least 1.
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
    /// Returns the fault of the policy, if any. After a fault the policy is not called again, and
    /// the behaviour of the cache is not that of the policy.
    #[inline]
    pub fn fault(&self) -> Option<&Fault> {
        self.guest.fault.as_ref()
    }
    /// Returns the policy's victim, or an arbitrary resident after a fault.
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
    /// Evicts until at most `count` entries are resident.
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

/// Creates a new policy with the same factory if there was no request yet; otherwise the copy
/// reports a fault.
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

/// Implements serialisation and deserialisation of foreign types; both always fail.
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
    /// Changes the capacity. The policy chooses the victims, but is not notified of the capacity.
    fn resize(&mut self, capacity: usize, owner: &mut impl Owner) {
        self.capacity = capacity.max(1);
        self.shrink(self.capacity, owner);
    }
}

/// View of the owner's page states, looked up by key.
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
