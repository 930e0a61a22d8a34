//! What the host side has done.

use serde::{Deserialize, Serialize};
use wordline_kernel::{Since, Time, since};

/// What CPU time is spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// Workers, submitting requests and taking completions.
    Worker,
    /// Look-ups in the map.
    LookUp,
    /// Updates of the map.
    Update,
    /// Steps of collections.
    Collection,
}

/// CPU time by [`Cause`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shares([Time; 4]);

impl Shares {
    /// Time spent on one thing.
    #[must_use]
    pub fn of(cause: Cause, time: Time) -> Self {
        let mut shares = Self::default();
        shares.0[cause as usize] = time;
        shares
    }
    /// What was spent on one thing.
    pub fn get(&self, cause: Cause) -> Time {
        self.0[cause as usize]
    }
    /// All of it.
    pub fn total(&self) -> Time {
        self.0.into_iter().sum()
    }
    /// Both.
    #[must_use]
    pub fn plus(mut self, more: &Self) -> Self {
        for (own, more) in self.0.iter_mut().zip(more.0) {
            *own += more;
        }
        self
    }
}

/// What the map takes of the memory of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Units that are mapped.
    pub units: u64,
    /// Entries that say where they are.
    pub entries: u64,
    /// Bytes of the structure that holds the entries.
    pub bytes: u64,
}

/// How often pages of a map were in the memory of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loads {
    /// Pages that were there when they were looked at or changed.
    pub hits: u64,
    /// Pages that had to be read from the store.
    pub misses: u64,
    /// Pages that were written to the store to make room.
    pub write_backs: u64,
}

since!(Loads: hits, misses, write_backs);

/// Counts and times of the host side since the start of measuring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostStats {
    /// CPU time by cause.
    pub cpu: Shares,
    /// Of it, time under the lock.
    pub locked: Time,
    /// Time that the bridge has converted.
    pub bridge: Time,
    /// Requests that are complete.
    pub completed: u64,
    /// Their response times from their submission to the host, in ps.
    pub response: u128,
    /// Requests held, integrated over the time in ps.
    pub held_time: u128,
    /// Requests held at once, at most.
    pub held_most: u32,
    /// Steps of look-ups in the map: entries or nodes visited.
    pub lookups: u64,
    /// Steps of updates of the map.
    pub updates: u64,
    /// Flash operations of collections that were heard of.
    pub collection_steps: u64,
    /// What the map takes now.
    pub memory: Memory,
    /// How often its pages were in memory.
    pub loads: Loads,
    /// Bytes that it has taken at most.
    pub most_bytes: u64,
}

impl Since for Shares {
    fn since(&self, before: &Self) -> Self {
        Self(self.0.since(&before.0))
    }
}

since!(HostStats: cpu, locked, bridge, completed, response, held_time, lookups, updates, collection_steps, loads;
    but held_most, memory, most_bytes);
