//! Multi-plane commands.

use std::mem;

use wordline_io_scheduler::Slot;
use wordline_io_scheduler::compose::{Compose, MAX_IN_LINE};
use wordline_nand::{Array, Die, Operation, Ppn};

use super::BackEnd;
use super::transaction::NONE;
use super::transaction::PageConditions;
use super::transaction::Transaction;

impl BackEnd {
    /// Adds a transaction that has joined the queue of its die to the queue of its plane.
    #[inline(always)]
    pub(super) fn enter_plane(&mut self, slot: Slot) {
        let transaction = &mut self.table.transactions[slot as usize];
        let plane = self.layout.plane_of_page(transaction.place).0;
        // A die has at most `MAX_PLANES` planes.
        transaction.plane = (plane - transaction.die.0 * self.layout.planes_per_die) as u8;
        self.queues.enter(slot, transaction.die, transaction.plane);
    }

    /// Removes a transaction that has left the queue of its die from the queue of its plane.
    #[inline(always)]
    pub(super) fn leave_plane(&mut self, slot: Slot) {
        let transaction = &self.table.transactions[slot as usize];
        self.queues.leave(slot, transaction.die, transaction.plane);
    }

    /// Removes the transactions that the composition picks from the queue and links them to `head`,
    /// which has left the queue. Returns the number of transactions in the command.
    #[inline(always)]
    pub(super) fn join(&mut self, die: Die, head: Slot, array: &Array) -> u32 {
        let others = self.queues.occupied(die) & !(1 << self.get(head).plane);
        if others == 0 {
            return 1;
        }
        if self.composition.skips() {
            let fitting = self.fitting_firsts(die, head, others, array);
            if fitting == 0 {
                return 1;
            }
            self.look_at_firsts(die, head, fitting);
        } else {
            self.look_at_line(die, head, array);
        }
        self.join_picked(die, head)
    }

    /// Lets the composition pick from the examined transactions, and links them to `head`.
    #[inline(never)]
    fn join_picked(&mut self, die: Die, head: Slot) -> u32 {
        let most = self.planes as usize - 1;
        let mut look = mem::take(&mut self.look);
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
    fn look_at_line(&mut self, die: Die, head: Slot, array: &Array) {
        let mut look = mem::take(&mut self.look);
        look.begin(head, self.get(head).plane, self.queues.occupied(die));
        let mut slot = self.channels.of(die).first;
        while slot != NONE && !look.is_over() {
            let fits = || self.belongs(head, slot) && self.can_begin(slot, array);
            look.add(slot, self.get(slot).plane, fits);
            slot = self.table.next(slot);
        }
        self.look = look;
    }

    /// Examines the first queued transactions of the planes in the bit mask `fitting`, which fit
    /// the command of `head`, in the order of the queue. All others count as not fitting.
    fn look_at_firsts(&mut self, die: Die, head: Slot, mut fitting: u64) {
        self.look.begin(head, self.get(head).plane, fitting);
        while fitting != 0 {
            let firsts = planes(fitting).map(|plane| (self.queues.first(die, plane), plane));
            let earliest = firsts.min_by_key(|(slot, _)| self.queues.entered(*slot));
            let Some((slot, plane)) = earliest else {
                return;
            };
            self.look.add(slot, plane as u8, || true);
            fitting &= !(1 << plane);
        }
    }

    /// Returns the planes of `others` whose first transaction fits the command of `head` and is
    /// near enough to the front of the queue to be examined. Both sets of planes are bit masks.
    #[inline]
    fn fitting_firsts(&self, die: Die, head: Slot, others: u64, array: &Array) -> u64 {
        let fits = |plane: &u32| {
            let slot = self.queues.first(die, *plane);
            self.belongs(head, slot) && self.can_begin(slot, array) && self.is_in_line(die, slot)
        };
        planes(others)
            .filter(fits)
            .fold(0, |mask, plane| mask | 1 << plane)
    }

    /// Returns `true` if one command can examine the queue of a die as far as this transaction.
    fn is_in_line(&self, die: Die, slot: Slot) -> bool {
        /// Transactions that are examined in addition to the head. Count.
        const MAX_EXAMINED: usize = MAX_IN_LINE - 1;
        let mut other = self.channels.of(die).first;
        let later = self.queues.entered(slot) - self.queues.entered(other);
        if later < MAX_EXAMINED as u64 {
            return true;
        }
        for _ in 1..MAX_EXAMINED {
            if other == slot {
                return true;
            }
            other = self.table.next(other);
        }
        other == slot
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

/// Returns the planes in a bit mask, in ascending order.
fn planes(mut mask: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let plane = mask.trailing_zeros();
        let any = mask != 0;
        mask &= mask.wrapping_sub(1);
        any.then_some(plane)
    })
}
