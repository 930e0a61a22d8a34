//! Multi-plane commands.

use std::mem;

use serde::{Deserialize, Serialize};
use wordline_nand::{Array, Die, Layout, Operation, Ppn};

use super::transaction::NONE;
use super::transaction::PageConditions;
use super::transaction::Transaction;
use super::{BackEnd, MAX_PLANES};
use wordline_io_scheduler::Slot;
use wordline_io_scheduler::compose::{Compose, Waiting};

/// Maximum number of transactions that are examined for one command, including its head.
const MAX_IN_LINE: usize = 64;

/// Queued transactions of each plane in order, for dies that execute commands on several planes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PlaneQueues {
    planes_per_die: u32,
    /// First and last transaction of each plane.
    ends: Vec<(Slot, Slot)>,
    /// By transaction: the next one of its plane, and its place in the order in which all entered.
    links: Vec<(Slot, u64)>,
    /// Transactions that have entered. Count.
    entered: u64,
    /// Queued transactions by die. Count.
    queued: Vec<u32>,
    /// Planes with queued transactions by die. Bit mask.
    occupied: Vec<u64>,
}

impl PlaneQueues {
    pub(super) fn new(layout: &Layout) -> Self {
        Self {
            planes_per_die: layout.planes_per_die,
            ends: vec![(NONE, NONE); (layout.dies * layout.planes_per_die) as usize],
            links: Vec::new(),
            entered: 0,
            queued: vec![0; layout.dies as usize],
            occupied: vec![0; layout.dies as usize],
        }
    }
    fn ends(&mut self, die: Die, plane: u8) -> &mut (Slot, Slot) {
        &mut self.ends[(die.0 * self.planes_per_die) as usize + usize::from(plane)]
    }
    /// Appends a transaction that joins the queue of its die.
    fn enter(&mut self, slot: Slot, die: Die, plane: u8) {
        let place = slot as usize;
        if self.links.len() <= place {
            self.links.resize(place + 1, (NONE, 0));
        }
        self.entered += 1;
        self.links[place] = (NONE, self.entered);
        self.queued[die.index()] += 1;
        self.occupied[die.index()] |= 1 << plane;
        let ends = self.ends(die, plane);
        let last = mem::replace(&mut ends.1, slot);
        if last == NONE {
            ends.0 = slot;
        } else {
            self.links[last as usize].0 = slot;
        }
    }
    /// Removes a transaction that leaves the queue of its die.
    fn leave(&mut self, slot: Slot, die: Die, plane: u8) {
        self.queued[die.index()] -= 1;
        let next = self.links[slot as usize].0;
        let ends = self.ends(die, plane);
        if ends.0 == slot {
            ends.0 = next;
            if next == NONE {
                ends.1 = NONE;
                self.occupied[die.index()] &= !(1 << plane);
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
}

/// Head of a command and the transactions of the die's queue that are examined for it, in order, up
/// to the first that completes the set of planes. A composition never lets a transaction overtake
/// another of its plane, so it picks none beyond that. A transaction whose plane has occurred
/// before counts as not fitting.
#[derive(Clone, Debug, Default)]
pub(super) struct Look {
    slots: Vec<Slot>,
    line: Vec<Waiting>,
    /// Indices in `line` that the composition picks.
    picked: Vec<usize>,
    /// Planes with a queued transaction, but without one in `line`. Bit mask.
    open: u64,
}

impl Look {
    /// Starts with the head of a command, which has left the queue. `occupied` are the planes of
    /// the transactions in the queue.
    fn begin(&mut self, head: Slot, plane: u8, occupied: u64) {
        self.slots.clear();
        self.line.clear();
        self.open = u64::MAX;
        self.add(head, plane, || true);
        self.open &= occupied;
    }
    fn is_over(&self) -> bool {
        self.open == 0 || self.line.len() == MAX_IN_LINE
    }
    fn add(&mut self, slot: Slot, plane: u8, fits: impl FnOnce() -> bool) {
        let fits = self.open >> plane & 1 == 1 && fits();
        let plane_in_die = u32::from(plane);
        self.slots.push(slot);
        self.line.push(Waiting {
            plane: plane_in_die,
            fits,
        });
        self.open &= !(1 << plane);
    }
}

impl BackEnd {
    /// Queues a transaction that has joined the queue of its die with those of its plane.
    pub(super) fn enter_plane(&mut self, slot: Slot) {
        let transaction = &mut self.table.transactions[slot as usize];
        let plane = self.layout.plane_of_page(transaction.place).0;
        // A die has at most `MAX_PLANES` planes.
        transaction.plane = (plane - transaction.die.0 * self.layout.planes_per_die) as u8;
        self.queues.enter(slot, transaction.die, transaction.plane);
    }

    /// Removes a transaction that has left the queue of its die from those of its plane.
    pub(super) fn leave_plane(&mut self, slot: Slot) {
        let Transaction { die, plane, .. } = *self.get(slot);
        self.queues.leave(slot, die, plane);
    }

    /// Removes the transactions that the composition picks from the queue and links them to `head`,
    /// which has left the queue. Returns the number of transactions in the command.
    pub(super) fn join(&mut self, die: Die, head: Slot, array: &Array) -> u32 {
        let plane = self.get(head).plane;
        let occupied = self.queues.occupied[die.index()];
        if occupied & !(1 << plane) == 0 {
            return 1;
        }
        let mut look = mem::take(&mut self.look);
        look.begin(head, plane, occupied);
        if self.composition.skips() && self.queues.queued[die.index()] < MAX_IN_LINE as u32 {
            self.look_at_firsts(&mut look, die, head, array);
        } else {
            self.look_at_line(&mut look, die, head, array);
        }
        look.picked.clear();
        let most = self.planes as usize - 1;
        self.composition.pick(&look.line, most, &mut look.picked);
        let mut next = NONE;
        for &place in look.picked.iter().rev() {
            let slot = look.slots[place];
            self.leave_plane(slot);
            self.table.unlink(self.channels.of_mut(die), slot);
            self.table.transactions[slot as usize].next = next;
            next = slot;
        }
        self.table.transactions[head as usize].next = next;
        let joined = look.picked.len() as u32;
        self.look = look;
        1 + joined
    }

    /// Examines the transactions of a die's queue in order.
    fn look_at_line(&self, look: &mut Look, die: Die, head: Slot, array: &Array) {
        let mut slot = self.channels.of(die).first;
        while slot != NONE && !look.is_over() {
            let fits = || self.belongs(head, slot) && self.can_begin(slot, array);
            look.add(slot, self.get(slot).plane, fits);
            slot = self.table.next(slot);
        }
    }

    /// Examines the first queued transaction of each plane other than that of `head`, in the order
    /// of the queue. All others count as not fitting.
    fn look_at_firsts(&self, look: &mut Look, die: Die, head: Slot, array: &Array) {
        let base = (die.0 * self.layout.planes_per_die) as usize;
        let queues = &self.queues;
        let mut firsts = [NONE; MAX_PLANES];
        let (mut count, mut open) = (0, look.open);
        while open != 0 {
            let first = queues.ends[base + open.trailing_zeros() as usize].0;
            open &= open - 1;
            let entered = |slot: Slot| queues.links[slot as usize].1;
            let mut place = count;
            while place > 0 && entered(firsts[place - 1]) > entered(first) {
                firsts[place] = firsts[place - 1];
                place -= 1;
            }
            firsts[place] = first;
            count += 1;
        }
        for &slot in &firsts[..count] {
            let fits = || self.belongs(head, slot) && self.can_begin(slot, array);
            look.add(slot, self.get(slot).plane, fits);
        }
    }

    /// Returns `false` for a read of a page whose program is not finished, if operations can be
    /// suspended: the read has to wait.
    fn can_begin(&self, slot: Slot, array: &Array) -> bool {
        let Transaction { purpose, place, .. } = self.get(slot);
        !self.suspends || purpose.operation() != Operation::Read || array.read(*place).is_ok()
    }

    /// Returns `true` if two transactions on different planes fit one command: both or neither are
    /// for GC, and they have the same operation, equal modes, and addresses that the plane rule
    /// allows.
    fn belongs(&self, head: Slot, other_slot: Slot) -> bool {
        let (one, other) = (self.get(head), self.get(other_slot));
        let operation = one.operation;
        if operation != other.operation || one.gc != other.gc {
            return false;
        }
        let alike = |grade: PageConditions| (grade.mode, grade.single_read, grade.single_program);
        if self.has_page_conditions
            && alike(self.table.graded(head)) != alike(self.table.graded(other_slot))
        {
            return false;
        }
        let offsets = |page: Ppn| {
            let block = self.layout.block_of(page);
            let page = if operation == Operation::Erase {
                0
            } else {
                self.layout.page_in_block(page)
            };
            (self.layout.block_in_plane(block), page)
        };
        let allows = |one, other| self.plane_rule.allows(offsets(one), offsets(other));
        let moves = operation == Operation::Move;
        allows(one.place, other.place) && (!moves || allows(one.target, other.target))
    }
}

#[cfg(test)]
mod tests {
    use wordline_kernel::Rng;

    use super::*;
    use wordline_io_scheduler::Composition;

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
                let (mut picked, mut expected) = (Vec::new(), Vec::new());
                policy.pick(&look.line, planes as usize - 1, &mut picked);
                policy.pick(all, planes as usize - 1, &mut expected);
                assert_eq!(picked, expected, "{}: {all:?}", policy.name());
            }
        }
    }
}
