//! Commands on several planes.

use wordline_nand::{Array, Die, Operation, Ppn};

use super::BackEnd;
use super::transaction::{NONE, Slot, Transaction};
use crate::compose::{Compose, Waiting};

/// Transactions of a queue that are looked at for one command.
const MOST_IN_LINE: usize = 64;

impl BackEnd {
    /// Takes what the composition picks out of the queue and links it to `head`. Returns the number
    /// of transactions.
    pub(super) fn join(&mut self, die: Die, head: Slot, array: &Array) -> u32 {
        let mut slots = [head; MOST_IN_LINE];
        let mut line = [self.waiting(head, head, array); MOST_IN_LINE];
        let (mut length, mut slot) = (1, self.channels.of(die).first);
        while slot != NONE && length < MOST_IN_LINE {
            slots[length] = slot;
            line[length] = self.waiting(head, slot, array);
            length += 1;
            slot = self.book.next(slot);
        }
        self.picked.clear();
        let most = self.planes as usize - 1;
        self.composition
            .pick(&line[..length], most, &mut self.picked);
        let mut next = NONE;
        for &place in self.picked.iter().rev() {
            self.book.unlink(self.channels.of_mut(die), slots[place]);
            self.book.transactions[slots[place] as usize].next = next;
            next = slots[place];
        }
        self.book.transactions[head as usize].next = next;
        1 + self.picked.len() as u32
    }

    fn waiting(&self, head: Slot, slot: Slot, array: &Array) -> Waiting {
        let plane = self
            .layout
            .plane_of(self.layout.block_of(self.get(slot).place));
        Waiting {
            plane: plane.0 % self.layout.planes_per_die,
            fits: self.belongs(head, slot) && self.can_begin(slot, array),
        }
    }

    /// Whether nothing that is laid aside has to come before a transaction: a read of a page whose
    /// program is suspended waits for it.
    fn can_begin(&self, slot: Slot, array: &Array) -> bool {
        let Transaction { purpose, place, .. } = self.get(slot);
        !self.suspends || purpose.operation() != Operation::Read || array.read(*place).is_ok()
    }

    /// Whether two transactions of different planes can be one command.
    fn belongs(&self, head: Slot, other: Slot) -> bool {
        let (one, other) = (self.get(head), self.get(other));
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
