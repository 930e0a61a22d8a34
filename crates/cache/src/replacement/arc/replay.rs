//! ARC over a whole trace, without linked lists.
//!
//! Entries leave T1 for B1 in the order in which they came to T1, so T1 and B1 are one order cut in
//! two, and so are T2 and B2. An order is a log of arrivals and two places in it: the border between
//! ghosts and residents, and the end of the ghosts. An entry remembers its last arrival; arrivals
//! that are not the last of their entry are passed over.

use super::{Adaptation, Counts, Entry, Owner, Requests, step};
use crate::trace::{self, Leaving};

/// T1 and B1 (0), or T2 and B2 (1).
#[derive(Debug, Default)]
struct Order {
    arrivals: Vec<u32>,
    /// Residents arrived here or later.
    border: u32,
    /// Ghosts arrived here or later.
    end: u32,
    residents: usize,
    ghosts: usize,
}

/// The last arrival of an entry: one more than its place in the log, times two, plus the order.
/// Zero: nothing is known of it.
type Arrival = u32;

fn arrival(place: u32, order: usize) -> Arrival {
    (place + 1) << 1 | order as u32
}

#[derive(Debug)]
struct Replay {
    orders: [Order; 2],
    arrivals: Vec<Arrival>,
    adaptation: Adaptation,
    capacity: usize,
    p: f64,
}

impl Replay {
    /// Puts an entry in front of an order.
    #[inline]
    fn arrive(&mut self, order: usize, entry: Entry) {
        let log = &mut self.orders[order].arrivals;
        self.arrivals[entry.index()] = arrival(log.len() as u32, order);
        log.push(entry.0);
        self.orders[order].residents += 1;
    }
    /// The first place of an order, from one on, that is the last arrival of its entry.
    #[inline]
    fn live(&self, order: usize, mut place: u32) -> (u32, Entry) {
        let log = &self.orders[order].arrivals;
        loop {
            let entry = Entry(log[place as usize]);
            if self.arrivals[entry.index()] == arrival(place, order) {
                return (place, entry);
            }
            place += 1;
        }
    }
    /// The least recent resident of an order becomes a ghost.
    fn evict(&mut self, order: usize, owner: &mut Leaving) {
        let (place, victim) = self.live(order, self.orders[order].border);
        let order = &mut self.orders[order];
        order.border = place + 1;
        order.residents -= 1;
        order.ghosts += 1;
        owner.evicted(victim);
    }
    /// Forgets the least recent ghost of an order.
    fn forget(&mut self, order: usize) {
        let (place, oldest) = self.live(order, self.orders[order].end);
        self.arrivals[oldest.index()] = 0;
        self.orders[order].end = place + 1;
        self.orders[order].ghosts -= 1;
    }
    fn replace(&mut self, in_b2: bool, owner: &mut Leaving) {
        let [first, second] = &self.orders;
        if first.residents + second.residents < self.capacity {
            return;
        }
        let once = first.residents as f64;
        let over = once > self.p || in_b2 && once == self.p;
        self.evict(usize::from(!(over && once > 0.0)), owner);
    }
    /// An entry that nothing is known of.
    fn admit(&mut self, entry: Entry, owner: &mut Leaving) {
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
        self.arrive(0, entry);
    }
    /// A ghost of an order comes back.
    fn revive(&mut self, order: usize, entry: Entry, owner: &mut Leaving) {
        let (hit, other) = (self.orders[order].ghosts, self.orders[1 - order].ghosts);
        let step = step(self.adaptation, hit, other);
        self.p = match order {
            0 => (self.p + step).min(self.capacity as f64),
            _ => (self.p - step).max(0.0),
        };
        self.replace(order == 1, owner);
        self.orders[order].ghosts -= 1;
        self.arrive(1, entry);
    }
    #[inline]
    fn access(&mut self, entry: Entry, owner: &mut Leaving) -> bool {
        let last = self.arrivals[entry.index()];
        let order = (last & 1) as usize;
        let hit = last >> 1 > self.orders[order].border;
        if hit {
            self.orders[order].residents -= 1;
            self.arrive(1, entry);
        } else if last == 0 {
            self.admit(entry, owner);
        } else {
            self.revive(order, entry, owner);
        }
        hit
    }
}

/// The counts of a cache that is empty at first. None if the trace is too long for it.
pub(super) fn replay(
    adaptation: Adaptation,
    capacity: usize,
    requests: &Requests,
) -> Option<Counts> {
    if requests.len() >= 1 << 31 {
        return None;
    }
    let mut replay = Replay {
        orders: Default::default(),
        arrivals: vec![0; requests.footprint() as usize],
        adaptation,
        capacity,
        p: 0.0,
    };
    let mut owner = Leaving::default();
    let hits = trace::each(requests, &mut owner, |_, entry, _, owner| {
        replay.access(entry, owner)
    });
    Some(owner.counts(requests, hits))
}
