//! Belady's MIN over a whole trace, without a heap.
//!
//! A resident is represented by the place of its next request. Places are unique and known in
//! advance, so a request hits if its own place is in the set, and the victim is the largest place
//! in the set.

use std::collections::VecDeque;

use super::{Counts, Owner, Requests};
use crate::entry::Entry;
use crate::trace;

/// Set of places, as a tree of bits. A bit of a level above the lowest one is set if the word below
/// it has any bit set.
struct Places {
    levels: Vec<Vec<u64>>,
}

impl Places {
    /// Creates an empty set of places below `count`.
    fn new(count: usize) -> Self {
        let mut levels = vec![vec![0; count.div_ceil(64).max(1)]];
        while let Some(below) = levels.last().map(Vec::len)
            && below > 1
        {
            levels.push(vec![0; below.div_ceil(64)]);
        }
        Self { levels }
    }
    #[inline]
    fn contains(&self, place: usize) -> bool {
        self.levels[0][place / 64] >> (place % 64) & 1 != 0
    }
    #[inline]
    fn insert(&mut self, mut place: usize) {
        for level in &mut self.levels {
            let word = &mut level[place / 64];
            let was_empty = *word == 0;
            *word |= 1 << (place % 64);
            if !was_empty {
                break;
            }
            place /= 64;
        }
    }
    /// Removes and returns the largest place; `None` if the set is empty.
    #[inline]
    fn pop(&mut self) -> Option<usize> {
        let mut place = 0;
        for level in self.levels.iter().rev() {
            place = place * 64 + level[place].checked_ilog2()? as usize;
        }
        let mut at = place;
        for level in &mut self.levels {
            let word = &mut level[at / 64];
            *word &= !(1 << (at % 64));
            if *word != 0 {
                break;
            }
            at /= 64;
        }
        Some(place)
    }
}

/// Returns the counts of a run that starts with an empty cache.
pub(super) fn replay(capacity: usize, requests: &Requests) -> Counts {
    let next = requests.next();
    let mut coming = Places::new(requests.len());
    // Residents that are not requested again, in the order of their last requests. The place of a
    // hit stays in `coming`: while there are later places, it is not the largest, and without them
    // the victim is one of these residents.
    let mut ended: VecDeque<Entry> = VecDeque::new();
    let mut vacant = capacity;
    trace::counted(requests, |place, entry, owner| {
        let hit = coming.contains(place);
        if !hit && vacant > 0 {
            vacant -= 1;
        } else if !hit {
            let last = || coming.pop().map(|place| Entry(requests.numbers()[place]));
            if let Some(victim) = ended.pop_front().or_else(last) {
                owner.evicted(victim);
            }
        }
        match next[place] {
            u32::MAX => ended.push_back(entry),
            next => coming.insert(next as usize),
        }
        hit
    })
}
