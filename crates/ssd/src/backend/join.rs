//! Multi-plane commands.

use wordline_nand::{Array, Die, Operation, Ppn};

use super::BackEnd;
use super::transaction::NONE;
use super::transaction::PageConditions;
use super::transaction::Transaction;
use wordline_io_scheduler::Slot;
use wordline_io_scheduler::compose::{Compose, Waiting};

/// Maximum number of transactions of a queue that are examined for one command.
const MAX_IN_LINE: usize = 64;
const NOTHING: Waiting = Waiting {
    plane: 0,
    fits: false,
};

/// Head of a command and the transactions after it in the die's queue, up to the first that
/// completes the set of planes. A composition never lets a transaction overtake another of its
/// plane, so it picks none beyond that. A transaction whose plane has occurred before counts as not
/// fitting.
struct Look {
    slots: [Slot; MAX_IN_LINE],
    line: [Waiting; MAX_IN_LINE],
    length: usize,
    /// Planes of the die without a transaction in `line`. Bit mask.
    open: u64,
}

impl Look {
    fn new(head: Slot, plane: u32, planes: u32) -> Self {
        let mut look = Self {
            slots: [head; MAX_IN_LINE],
            line: [NOTHING; MAX_IN_LINE],
            length: 0,
            open: u64::MAX >> (64 - planes),
        };
        look.add(head, plane, || true);
        look
    }
    fn is_over(&self) -> bool {
        self.open == 0 || self.length == MAX_IN_LINE
    }
    fn add(&mut self, slot: Slot, plane: u32, fits: impl FnOnce() -> bool) {
        let fits = self.open >> plane & 1 == 1 && fits();
        self.slots[self.length] = slot;
        self.line[self.length] = Waiting { plane, fits };
        self.length += 1;
        self.open &= !(1 << plane);
    }
    fn line(&self) -> &[Waiting] {
        &self.line[..self.length]
    }
}

impl BackEnd {
    /// Removes the transactions that the composition picks from the queue and links them to `head`.
    /// Returns the number of transactions in the command.
    pub(super) fn join(&mut self, die: Die, head: Slot, array: &Array) -> u32 {
        let mut look = Look::new(head, self.plane(head), self.layout.planes_per_die);
        let mut slot = self.channels.of(die).first;
        while slot != NONE && !look.is_over() {
            let fits = || self.belongs(head, slot) && self.can_begin(slot, array);
            look.add(slot, self.plane(slot), fits);
            slot = self.table.next(slot);
        }
        self.picked.clear();
        let most = self.planes as usize - 1;
        self.composition.pick(look.line(), most, &mut self.picked);
        let mut next = NONE;
        for &place in self.picked.iter().rev() {
            let slot = look.slots[place];
            self.table.unlink(self.channels.of_mut(die), slot);
            self.table.transactions[slot as usize].next = next;
            next = slot;
        }
        self.table.transactions[head as usize].next = next;
        1 + self.picked.len() as u32
    }

    /// Returns the plane of a transaction, counted within its die.
    fn plane(&self, slot: Slot) -> u32 {
        let block = self.layout.block_of(self.get(slot).place);
        self.layout.plane_of(block).0 % self.layout.planes_per_die
    }

    /// Returns `true` if a transaction need not wait for a suspended operation. A read of a page
    /// whose program is suspended has to.
    fn can_begin(&self, slot: Slot, array: &Array) -> bool {
        let Transaction { purpose, place, .. } = self.get(slot);
        !self.suspends || purpose.operation() != Operation::Read || array.read(*place).is_ok()
    }

    /// Returns `true` if two transactions on different planes fit one command. All pages of a
    /// command have the same program mode.
    fn belongs(&self, head: Slot, other_slot: Slot) -> bool {
        let (one, other) = (self.get(head), self.get(other_slot));
        let alike = |grade: PageConditions| (grade.mode, grade.single_read, grade.single_program);
        if alike(self.table.graded(head)) != alike(self.table.graded(other_slot)) {
            return false;
        }
        let operation = one.purpose.operation();
        if operation != other.purpose.operation() || one.purpose.is_gc() != other.purpose.is_gc() {
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
        allows(one.place, other.place) && allows(one.target, other.target)
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
        for turn in 0..5_000 {
            let planes = 1 + turn % 5;
            let length = 1 + random.below(80);
            let line = (0..length).map(|_| Waiting {
                plane: random.below(u64::from(planes)) as u32,
                fits: random.below(3) > 0,
            });
            let line: Vec<_> = line.collect();
            let mut look = Look::new(0, line[0].plane, planes);
            for (slot, waiting) in line.iter().enumerate().skip(1) {
                if !look.is_over() {
                    look.add(slot as Slot, waiting.plane, || waiting.fits);
                }
            }
            let all = &line[..line.len().min(MAX_IN_LINE)];
            for policy in Composition::defaults() {
                let (mut picked, mut expected) = (Vec::new(), Vec::new());
                policy.pick(look.line(), planes as usize - 1, &mut picked);
                policy.pick(all, planes as usize - 1, &mut expected);
                assert_eq!(picked, expected, "{}: {all:?}", policy.name());
            }
        }
    }
}
