//! LFU over a whole trace, with ranks that are compared only for evictions.
//!
//! A request never lowers the rank of an entry. A queue may therefore hold the rank that an entry
//! had when it was queued: the entry is queued again, by its current rank, when it gets to the
//! front. Entries are first queued in the order of insertion, which is also that of their ranks,
//! and only those that are requested again before they get to the front enter a heap.
//!
//! Ranks fit in 32 bits. The age is the rank of an evicted entry, whose own age is that of an entry
//! evicted before, and so on. All counts in such a sum are of different requests.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};

use super::{Counts, Owner, Requests};
use crate::entry::Entry;
use crate::trace;

/// Rank in the upper 32 bits, and one more than the place of the last request in the lower ones. 0
/// if the entry is not resident.
type Key = u64;

fn key(rank: u32, place: usize) -> Key {
    u64::from(rank) << 32 | (place as u64 + 1)
}

struct Residents {
    keys: Vec<Key>,
    /// Residents that have not been queued again, the oldest first, with their keys at insertion.
    fresh: VecDeque<(Key, Entry)>,
    /// Other residents, with their keys when they were queued.
    others: BinaryHeap<Reverse<(Key, Entry)>>,
}

impl Residents {
    fn insert(&mut self, entry: Entry, key: Key) {
        self.keys[entry.index()] = key;
        self.fresh.push_back((key, entry));
    }
    /// Removes the entry with the smallest key; `None` if there are no residents.
    fn evict(&mut self) -> Option<(Key, Entry)> {
        let victim = loop {
            let front = self.fresh.front().copied();
            if let Some((queued, entry)) = front
                && self.keys[entry.index()] != queued
            {
                self.fresh.pop_front();
                self.others.push(Reverse((self.keys[entry.index()], entry)));
                continue;
            }
            let Some(mut least) = self.others.peek_mut() else {
                break self.fresh.pop_front()?;
            };
            let Reverse((queued, entry)) = *least;
            if front.is_some_and(|front| front.0 < queued) {
                drop(least);
                break self.fresh.pop_front()?;
            }
            let now = self.keys[entry.index()];
            if now == queued {
                PeekMut::pop(least);
                break (queued, entry);
            }
            *least = Reverse((now, entry));
        };
        self.keys[victim.1.index()] = 0;
        Some(victim)
    }
}

/// Returns the counts of a run that starts with an empty cache.
pub(super) fn replay(aging: bool, capacity: usize, requests: &Requests) -> Counts {
    let entries = requests.footprint() as usize;
    let mut residents = Residents {
        keys: vec![0; entries],
        fresh: VecDeque::new(),
        others: BinaryHeap::new(),
    };
    let mut vacant = capacity;
    if !aging {
        return trace::counted(requests, |place, entry, owner| {
            requests.prefetch(&residents.keys, place);
            let before = residents.keys[entry.index()];
            if before != 0 {
                residents.keys[entry.index()] = key((before >> 32) as u32 + 1, place);
                return true;
            }
            if vacant > 0 {
                vacant -= 1;
            } else if let Some((_, victim)) = residents.evict() {
                owner.evicted(victim);
            }
            residents.insert(entry, key(1, place));
            false
        });
    }
    let mut requested = vec![0_u32; entries]; // since the insertion
    let mut age = 0;
    trace::counted(requests, |place, entry, owner| {
        requests.prefetch(&residents.keys, place);
        requests.prefetch(&requested, place);
        let count = &mut requested[entry.index()];
        if residents.keys[entry.index()] != 0 {
            *count += 1;
            residents.keys[entry.index()] = key(*count + age, place);
            return true;
        }
        *count = 1;
        if vacant > 0 {
            vacant -= 1;
        } else if let Some((least, victim)) = residents.evict() {
            age = (least >> 32) as u32;
            owner.evicted(victim);
        }
        residents.insert(entry, key(1 + age, place));
        false
    })
}
