//! Multi-plane commands.

use std::mem;

use wordline_io_scheduler::Slot;
use wordline_io_scheduler::compose::{Compose, Look};
use wordline_nand::{Array, Die, Operation, Ppn};

use super::BackEnd;
use super::transaction::NONE;
use super::transaction::PageConditions;
use super::transaction::Transaction;

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
        let occupied = self.queues.occupied(die);
        if occupied & !(1 << plane) == 0 {
            return 1;
        }
        let mut look = mem::take(&mut self.look);
        look.begin(head, plane, occupied);
        if self.composition.skips() && self.queues.fits_in_line(die) {
            self.look_at_firsts(&mut look, die, head, array);
        } else {
            self.look_at_line(&mut look, die, head, array);
        }
        let most = self.planes as usize - 1;
        look.pick(&self.composition, most);
        let mut next = NONE;
        for slot in look.picked().rev() {
            self.leave_plane(slot);
            self.table.unlink(self.channels.of_mut(die), slot);
            self.table.transactions[slot as usize].next = next;
            next = slot;
        }
        self.table.transactions[head as usize].next = next;
        let joined = look.picked().len() as u32;
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
        let (firsts, count) = self.queues.firsts(die, look.open());
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
