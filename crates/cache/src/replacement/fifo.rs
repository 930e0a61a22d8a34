//! First in, first out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Owner, Replace};
use crate::entry::Entry;
use crate::list::Lists;
use crate::trace::{self, Counts, Evictions, Requests};

/// Evicts the oldest entry, regardless of hits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fifo {}

impl Cited for Fifo {
    const PAPER: &'static str = "";
}

/// Residents, the newest at the front.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    lists: Lists<1>,
    capacity: usize,
}

impl State {
    /// Creates an empty cache of `capacity` entries.
    pub fn new(_policy: &Fifo, capacity: usize) -> Self {
        Self {
            lists: Lists::new(),
            capacity,
        }
    }
    /// Evicts until at most `count` entries are resident.
    #[inline]
    fn shrink(&mut self, count: usize, owner: &mut impl Owner) {
        while self.len() > count
            && let Some(oldest) = self.lists.pop_back(0)
        {
            owner.evicted(oldest);
            owner.forgotten(oldest);
        }
    }
}

impl Replace for State {
    #[inline]
    fn access(&mut self, entry: Entry, _write: bool, owner: &mut impl Owner) -> bool {
        if self.lists.contains(entry) {
            return true;
        }
        self.shrink(self.capacity - 1, owner);
        self.lists.push_front(0, entry);
        false
    }
    #[inline]
    fn contains(&self, entry: Entry) -> bool {
        self.lists.contains(entry)
    }
    fn len(&self) -> usize {
        self.lists.len(0)
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
        self.shrink(capacity, owner);
    }
    /// Runs the policy over a trace. An entry is resident if one of the last `capacity` misses
    /// inserted it. An eviction is counted when the entry is requested again, or at the end of the
    /// trace.
    fn replay(mut self, requests: &Requests) -> Counts {
        if !self.is_empty() {
            return trace::one_by_one(&mut self, requests);
        }
        let mut came = vec![0_u32; requests.footprint() as usize]; // miss that inserted the entry, from 1; 0: none
        let capacity = u32::try_from(self.capacity).unwrap_or(u32::MAX);
        let mut misses = 0_u32;
        let mut owner = Evictions::default();
        let hits = trace::each(requests, &mut owner, |place, entry, _, owner| {
            requests.prefetch(&came, place);
            let with = came[entry.index()];
            let hit = with > misses.saturating_sub(capacity);
            if !hit {
                misses += 1;
                came[entry.index()] = misses;
                if with > 0 {
                    owner.evicted(entry);
                }
            }
            hit
        });
        let oldest = misses.saturating_sub(capacity);
        for (number, &with) in came.iter().enumerate() {
            if with > 0 && with <= oldest {
                owner.evicted(Entry(number as u32));
            }
        }
        owner.counts(requests, hits)
    }
}
