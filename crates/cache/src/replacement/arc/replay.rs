//! ARC over a whole trace, without linked lists.
//!
//! Entries leave T1 for B1 in the order in which they entered T1. T1 and B1 are therefore one
//! sequence divided in two, and so are T2 and B2. A sequence is represented by one bit per request,
//! which is set for the last request of each of its entries. Two places in the trace complete it:
//! the border between ghosts and residents, and the end of the ghosts. A place is the position of a
//! request.

use super::{Adaptation, Counts, Owner, Requests, step};
use crate::entry::Entry;
use crate::trace::{self, Bits, Evictions};

/// Sequence of T1 and B1 (0), or of T2 and B2 (1).
#[derive(Debug)]
struct Order {
    /// Places of the last requests of its entries.
    last: Bits,
    /// First place at which a resident can have its last request.
    border: usize,
    /// First place at which a ghost can have its last request.
    end: usize,
    residents: usize,
    ghosts: usize,
}

#[derive(Debug)]
struct Replay<'a> {
    numbers: &'a [u32],
    orders: [Order; 2],
    /// For each entry: one more than the place of its last request, times two, plus the index of
    /// its sequence. 0 for an unknown entry.
    known: Vec<u32>,
    adaptation: Adaptation,
    capacity: usize,
    p: f64,
}

impl Replay<'_> {
    /// Inserts the entry of a request at the front of a sequence.
    #[inline]
    fn arrive(&mut self, order: usize, place: usize, entry: Entry) {
        let to = &mut self.orders[order];
        to.last.insert(place);
        to.residents += 1;
        self.known[entry.index()] = (place as u32 + 1) << 1 | order as u32;
    }
    /// Turns the least recent resident of a sequence into a ghost.
    fn evict(&mut self, order: usize, owner: &mut Evictions) {
        let order = &mut self.orders[order];
        if let Some(place) = order.last.next(order.border) {
            order.border = place + 1;
            order.residents -= 1;
            order.ghosts += 1;
            owner.evicted(Entry(self.numbers[place]));
        }
    }
    /// Drops the least recent ghost of a sequence.
    fn forget(&mut self, order: usize) {
        let order = &mut self.orders[order];
        if let Some(place) = order.last.next(order.end) {
            order.end = place + 1;
            order.ghosts -= 1;
            self.known[self.numbers[place] as usize] = 0;
        }
    }
    fn replace(&mut self, in_b2: bool, owner: &mut Evictions) {
        let [first, second] = &self.orders;
        if first.residents + second.residents < self.capacity {
            return;
        }
        let once = first.residents as f64;
        let over = once > self.p || in_b2 && once == self.p;
        self.evict(usize::from(!(over && once > 0.0)), owner);
    }
    /// Admits an entry that is neither resident nor a ghost.
    fn admit(&mut self, place: usize, entry: Entry, owner: &mut Evictions) {
        let [first, second] = &self.orders;
        let known = first.residents + first.ghosts;
        if first.residents == self.capacity {
            self.evict(0, owner);
            self.forget(0);
        } else {
            if known == self.capacity {
                self.forget(0);
            } else if known + second.residents + second.ghosts == 2 * self.capacity {
                self.forget(1);
            }
            self.replace(false, owner);
        }
        self.arrive(0, place, entry);
    }
    /// Makes a ghost of a sequence resident again.
    fn revive(&mut self, order: usize, place: usize, entry: Entry, owner: &mut Evictions) {
        let (hit, other) = (self.orders[order].ghosts, self.orders[1 - order].ghosts);
        let step = step(self.adaptation, hit, other);
        self.p = match order {
            0 => (self.p + step).min(self.capacity as f64),
            _ => (self.p - step).max(0.0),
        };
        self.replace(order == 1, owner);
        self.orders[order].ghosts -= 1;
        self.arrive(1, place, entry);
    }
    #[inline]
    fn access(&mut self, place: usize, entry: Entry, owner: &mut Evictions) -> bool {
        let known = self.known[entry.index()];
        let order = (known & 1) as usize;
        let last = (known >> 1) as usize; // one more than the place
        let from = &mut self.orders[order];
        if last > from.border {
            from.last.remove(last - 1);
            from.residents -= 1;
            self.arrive(1, place, entry);
            return true;
        }
        if known == 0 {
            self.admit(place, entry, owner);
        } else {
            from.last.remove(last - 1);
            self.revive(order, place, entry, owner);
        }
        false
    }
}

/// Returns the counts of a run that starts with an empty cache; `None` if the trace has 2^31 or
/// more requests.
pub(super) fn replay(
    adaptation: Adaptation,
    capacity: usize,
    requests: &Requests,
) -> Option<Counts> {
    if requests.len() >= 1 << 31 {
        return None;
    }
    let order = || Order {
        last: Bits::with_capacity(requests.len()),
        border: 0,
        end: 0,
        residents: 0,
        ghosts: 0,
    };
    let mut replay = Replay {
        numbers: requests.numbers(),
        orders: [order(), order()],
        known: vec![0; requests.footprint() as usize],
        adaptation,
        capacity,
        p: 0.0,
    };
    let mut owner = Evictions::default();
    let hits = trace::each(requests, &mut owner, |place, entry, _, owner| {
        requests.prefetch(&replay.known, place);
        replay.access(place, entry, owner)
    });
    Some(owner.counts(requests, hits))
}
