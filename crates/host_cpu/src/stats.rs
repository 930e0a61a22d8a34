//! Statistics of the host CPU model.

use serde::{Deserialize, Serialize};
use wordline_kernel::{Since, Time, plus, since};

/// Cause of CPU time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// Workers: submission of requests and handling of completions.
    Worker,
    /// Look-ups in the map.
    LookUp,
    /// Updates of the map.
    Update,
    /// GC steps.
    Collection,
}

/// CPU time by [`Cause`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shares([Time; 4]);

impl Shares {
    /// Returns a breakdown with `time` for one cause and 0 for the others.
    #[must_use]
    pub fn of(cause: Cause, time: Time) -> Self {
        let mut shares = Self::default();
        shares.0[cause as usize] = time;
        shares
    }
    /// Returns the time spent on a cause.
    pub fn get(&self, cause: Cause) -> Time {
        self.0[cause as usize]
    }
    /// Returns the sum over all causes.
    pub fn total(&self) -> Time {
        self.0.into_iter().sum()
    }
}

plus!(Shares: 0);

/// Size of the map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Mapping units that are mapped. Count.
    pub units: u64,
    /// Number of entries that locate the mapping units.
    pub entries: u64,
    /// Size of the structure that holds the entries. Bytes.
    pub bytes: u64,
}

/// Hits and misses of the pages of a cached map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loads {
    /// Accesses to pages that were in memory. Count.
    pub hits: u64,
    /// Pages read from the store. Count.
    pub misses: u64,
    /// Pages written to the store to make room. Count.
    pub write_backs: u64,
}

since!(Loads: hits, misses, write_backs);

/// Statistics of the host. [`crate::host::Host::figures`] returns the statistics since the start of
/// measuring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostStats {
    /// CPU time by cause.
    pub cpu: Shares,
    /// CPU time spent under the lock, included in `cpu`.
    pub locked: Time,
    /// Busy time of the bridge.
    pub bridge: Time,
    /// Completed requests. Count.
    pub completed: u64,
    /// Sum of response times, from submission to the host until completion. Picoseconds.
    pub response: u128,
    /// Integral of the number of held requests over time. Request-picoseconds.
    pub held_time: u128,
    /// Maximum number of requests held at the same time.
    pub held_most: u32,
    /// Steps of look-ups in the map: entries of a table and of its directory, nodes or further
    /// extents of a tree. Count.
    pub lookups: u64,
    /// Steps of updates of the map: entries of a table, nodes or further extents of a tree. Count.
    pub updates: u64,
    /// GC steps that the store reported: pages read, programmed or moved, and blocks erased. Count.
    pub collection_steps: u64,
    /// Current size of the map.
    pub memory: Memory,
    /// Hits and misses of the map's pages.
    pub loads: Loads,
    /// Maximum size of the map. Bytes.
    pub most_bytes: u64,
}

impl Since for Shares {
    fn since(&self, before: &Self) -> Self {
        Self(self.0.since(&before.0))
    }
}

since!(HostStats: cpu, locked, bridge, completed, response, held_time, lookups, updates, collection_steps, loads;
    but held_most, memory, most_bytes);
