//! Transaction queues of the planes, and the part of a die's queue that is examined for one
//! command.

use std::mem;

use serde::{Deserialize, Serialize};
use wordline_nand::{Die, Layout};

use super::{Compose, Composition, Waiting};
use crate::Slot;

/// Slot number that stands for no transaction.
const NONE: Slot = Slot::MAX;

/// Maximum number of planes of a die.
pub const MAX_PLANES: usize = 64;

/// Maximum number of transactions that are examined for one command, including its head.
pub const MAX_IN_LINE: usize = 64;

/// Queued transactions of each plane in order, for dies that execute commands on several planes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlaneQueues {
    planes_per_die: u32,
    /// First and last transaction of each plane.
    ends: Vec<(Slot, Slot)>,
    /// For each transaction, the next transaction of its plane, and its own sequence number in the
    /// queue of its die.
    links: Vec<(Slot, u64)>,
    dies: Vec<OfDie>,
}

/// Queued transactions of a die.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct OfDie {
    /// Planes with queued transactions. Bit mask.
    occupied: u64,
    /// Transactions that have entered the queue so far. Count.
    entered: u64,
}

impl PlaneQueues {
    /// Creates empty queues for the planes of `layout`.
    pub fn new(layout: &Layout) -> Self {
        Self {
            planes_per_die: layout.planes_per_die,
            ends: vec![(NONE, NONE); (layout.dies * layout.planes_per_die) as usize],
            links: Vec::new(),
            dies: vec![OfDie::default(); layout.dies as usize],
        }
    }
    #[inline]
    fn ends(&mut self, die: Die, plane: u8) -> &mut (Slot, Slot) {
        &mut self.ends[(die.0 * self.planes_per_die) as usize + usize::from(plane)]
    }
    /// Returns the planes of a die that have queued transactions, as a bit mask.
    #[inline]
    pub fn occupied(&self, die: Die) -> u64 {
        self.dies[die.index()].occupied
    }
    /// Appends a transaction that joins the queue of its die.
    #[inline(always)]
    pub fn enter(&mut self, slot: Slot, die: Die, plane: u8) {
        let place = slot as usize;
        if self.links.len() <= place {
            self.extend(place);
        }
        let of_die = &mut self.dies[die.index()];
        of_die.entered += 1;
        of_die.occupied |= 1 << plane;
        self.links[place] = (NONE, of_die.entered);
        let ends = self.ends(die, plane);
        let last = mem::replace(&mut ends.1, slot);
        if last == NONE {
            ends.0 = slot;
        } else {
            self.links[last as usize].0 = slot;
        }
    }
    /// Extends `links` up to index `place`.
    #[cold]
    #[inline(never)]
    fn extend(&mut self, place: usize) {
        self.links.resize(place + 1, (NONE, 0));
    }
    /// Removes a transaction that leaves the queue of its die.
    #[inline(always)]
    pub fn leave(&mut self, slot: Slot, die: Die, plane: u8) {
        let next = self.links[slot as usize].0;
        let ends = self.ends(die, plane);
        if ends.0 == slot {
            ends.0 = next;
            if next == NONE {
                ends.1 = NONE;
                self.dies[die.index()].occupied &= !(1 << plane);
            }
        } else {
            self.leave_from_the_middle(slot, die, plane);
        }
    }
    /// Removes a transaction that overtakes the first of its plane, as a read may do.
    #[cold]
    fn leave_from_the_middle(&mut self, slot: Slot, die: Die, plane: u8) {
        let mut before = self.ends(die, plane).0;
        while self.links[before as usize].0 != slot {
            before = self.links[before as usize].0;
        }
        let next = self.links[slot as usize].0;
        self.links[before as usize].0 = next;
        if next == NONE {
            self.ends(die, plane).1 = before;
        }
    }
    /// Returns the first transaction of a plane, which must be occupied.
    #[inline]
    pub fn first(&self, die: Die, plane: u32) -> Slot {
        self.ends[(die.0 * self.planes_per_die + plane) as usize].0
    }
    /// Returns the sequence number of a queued transaction in the order of entry into the queue of
    /// its die.
    #[inline]
    pub fn entered(&self, slot: Slot) -> u64 {
        self.links[slot as usize].1
    }
}

/// Head of a command and the transactions of the die's queue that are examined for it, in order, up
/// to the first that completes the set of planes. A composition never lets a transaction overtake
/// another of its plane, so it picks none beyond that point. A transaction whose plane has occurred
/// before counts as not fitting.
#[derive(Clone, Debug, Default)]
pub struct Look {
    slots: Vec<Slot>,
    line: Vec<Waiting>,
    /// Indices in `line` that the composition picks.
    picked: Vec<usize>,
    /// Planes with a queued transaction, but without one in `line`. Bit mask.
    open: u64,
}

impl Look {
    /// Starts with the head of a command, which has left the queue. `occupied` is the bit mask of
    /// the planes with queued transactions.
    #[inline]
    pub fn begin(&mut self, head: Slot, plane: u8, occupied: u64) {
        self.slots.clear();
        self.line.clear();
        self.open = u64::MAX;
        self.add(head, plane, || true);
        self.open &= occupied;
    }
    /// Returns `true` if no further transaction can be picked.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.open == 0 || self.line.len() == MAX_IN_LINE
    }
    /// Examines a transaction of the queue; `fits` returns the value of [`Waiting::fits`].
    #[inline]
    pub fn add(&mut self, slot: Slot, plane: u8, fits: impl FnOnce() -> bool) {
        let fits = self.open >> plane & 1 == 1 && fits();
        let plane_in_die = u32::from(plane);
        self.slots.push(slot);
        self.line.push(Waiting {
            plane: plane_in_die,
            fits,
        });
        self.open &= !(1 << plane);
    }
    /// Lets a composition pick up to `most` transactions for the command of the head.
    #[inline]
    pub fn pick(&mut self, composition: &Composition, most: usize) {
        self.picked.clear();
        composition.pick(&self.line, most, &mut self.picked);
    }
    /// Returns the picked transactions in the order of the queue.
    #[inline]
    pub fn picked(&self) -> impl DoubleEndedIterator<Item = Slot> + ExactSizeIterator + use<'_> {
        self.picked.iter().map(|&place| self.slots[place])
    }
}

#[cfg(test)]
mod tests {
    use wordline_kernel::Rng;

    use super::*;

    #[test]
    fn examined_queue_prefix_suffices_for_every_composition() {
        let mut random = Rng::new(1, "lines");
        for turn in 0..5_000_u32 {
            let planes = 1 + turn % 5;
            let length = 1 + random.below(80);
            let line = (0..length).map(|_| Waiting {
                plane: random.below(u64::from(planes)) as u32,
                fits: random.below(3) > 0,
            });
            let line: Vec<_> = line.collect();
            let occupied = line[1..].iter().fold(0, |mask, one| mask | 1 << one.plane);
            let mut look = Look::default();
            look.begin(0, line[0].plane as u8, occupied);
            for (slot, waiting) in line.iter().enumerate().skip(1) {
                if !look.is_over() {
                    look.add(slot as Slot, waiting.plane as u8, || waiting.fits);
                }
            }
            let all = &line[..line.len().min(MAX_IN_LINE)];
            for policy in Composition::defaults() {
                let mut expected = Vec::new();
                look.pick(&policy, planes as usize - 1);
                policy.pick(all, planes as usize - 1, &mut expected);
                assert_eq!(look.picked, expected, "{}: {all:?}", policy.name());
            }
        }
    }
}
