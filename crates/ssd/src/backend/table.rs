//! Transactions in progress, and the queues of the dies.

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_nand::{Die, Features, Operation};

use super::die::{DieCommand, DieState};
use super::transaction::NONE;
use super::transaction::{Order, PageConditions, Queued, Transaction};
use crate::observation::{DeviceProbe, Observation, PageComponents};
use wordline_io_scheduler::Slot;

/// Transactions in progress.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct TransactionTable {
    pub(super) transactions: Vec<Transaction>,
    pub(super) vacant: Vec<Slot>,
    /// Transactions numbered so far. Count.
    came: u64,
    /// Latency components that the requests of late transactions incurred before the wait for the
    /// die, by transaction.
    pub(super) earlier: Vec<PageComponents>,
    /// Bytes of their pages that partial writes do not cover, by transaction.
    pub(super) fills: Vec<u32>,
    /// Page conditions by transaction; empty if the device has none.
    grades: Vec<PageConditions>,
}

impl TransactionTable {
    /// Admits an operation of a die that GC has used for `gc_before`.
    // The fields are set one by one from registers. Building the transaction in memory and copying
    // it with wider loads would stall on store forwarding.
    #[inline(always)]
    pub(super) fn admit(&mut self, now: Time, die: Die, gc_before: Time, order: &Order) -> Slot {
        let slot = match self.vacant.pop() {
            Some(slot) => slot,
            None => self.extend(),
        };
        let transaction = &mut self.transactions[slot as usize];
        transaction.purpose = order.purpose;
        transaction.operation = order.purpose.operation();
        transaction.gc = order.purpose.is_gc();
        transaction.die = die;
        transaction.next = NONE;
        transaction.previous = NONE;
        transaction.place = order.place;
        transaction.target = order.target;
        transaction.owner = order.owner;
        transaction.tag = order.tag;
        transaction.superseded = order.superseded;
        transaction.is_late = false;
        transaction.queued = Queued {
            since: now,
            gc: gc_before,
        };
        slot
    }
    /// Gives a transaction the next sequence number.
    #[inline]
    pub(super) fn number(&mut self, slot: Slot) {
        self.came += 1;
        self.transactions[slot as usize].number = self.came;
    }
    /// Sets the page conditions of a transaction.
    #[inline]
    pub(super) fn grade(&mut self, slot: Slot, grade: PageConditions) {
        let place = slot as usize;
        if self.grades.len() <= place {
            self.grades.resize(place + 1, PageConditions::default());
        }
        self.grades[place] = grade;
    }
    /// Returns the page conditions of a transaction.
    #[inline]
    pub(super) fn graded(&self, slot: Slot) -> PageConditions {
        self.grades.get(slot as usize).copied().unwrap_or_default()
    }
    /// Sets the number of array operations that follow the failing program of a command with first
    /// transaction `head`.
    pub(super) fn replaces(&mut self, head: Slot, following: u32) {
        if let Some(grade) = self.grades.get_mut(head as usize) {
            (grade.following, grade.has_failed) = (following, false);
        }
    }
    /// Handles the end of an array operation of a command. Returns `true` if the array has further
    /// work for the command because a program has failed and pages are copied to a spare block.
    /// Until that work is done, the command's pages cannot be read. The read of a move is not part
    /// of it, because it precedes the failure.
    #[cold]
    pub(super) fn goes_on(&mut self, command: &DieCommand, operation: Operation) -> bool {
        let Some(grade) = self.grades.get_mut(command.head as usize) else {
            return false;
        };
        let reads = command.operation == Operation::Move && operation == Operation::Read;
        if grade.following == 0 || reads && !grade.has_failed {
            return false;
        }
        grade.has_failed = true;
        grade.following -= 1;
        true
    }
    /// Adds a vacant slot.
    #[cold]
    #[inline(never)]
    fn extend(&mut self) -> Slot {
        self.transactions.push(Transaction::BLANK);
        self.transactions.len() as Slot - 1
    }

    /// Adds latency components that the request of a transaction incurred before the wait for the
    /// die.
    pub(super) fn add_earlier(&mut self, slot: Slot, parts: &PageComponents) {
        let place = slot as usize;
        let transaction = &mut self.transactions[place];
        if self.earlier.len() <= place {
            self.earlier.resize(place + 1, PageComponents::NONE);
        }
        if transaction.is_late {
            self.earlier[place].add(parts);
        } else {
            transaction.is_late = true;
            self.earlier[place] = *parts;
        }
    }
    /// Sets the number of bytes of the page that a partial write does not cover.
    pub(super) fn fill(&mut self, slot: Slot, bytes: u32) {
        let place = slot as usize;
        if self.fills.len() <= place {
            self.fills.resize(place + 1, 0);
        }
        self.fills[place] = bytes;
    }

    #[inline]
    pub(super) fn next(&self, slot: Slot) -> Slot {
        self.transactions[slot as usize].next
    }

    /// Appends a transaction to its die's queue.
    #[inline]
    pub(super) fn append<F: Features>(&mut self, state: &mut DieState, slot: Slot) {
        if state.first == NONE {
            state.first = slot;
        } else {
            self.transactions[state.last as usize].next = slot;
            if F::CHAINS {
                self.transactions[slot as usize].previous = state.last;
            }
        }
        state.last = slot;
    }

    /// Removes a transaction from its die's queue.
    #[inline(always)]
    pub(super) fn unlink(&mut self, state: &mut DieState, slot: Slot) {
        let transaction = &mut self.transactions[slot as usize];
        let (previous, next) = (transaction.previous, transaction.next);
        transaction.next = NONE;
        if previous == NONE {
            state.first = next;
        } else {
            self.transactions[previous as usize].next = next;
        }
        if next == NONE {
            state.last = previous;
        } else {
            self.transactions[next as usize].previous = previous;
        }
        if state.reads.is_empty() {
            return;
        }
        if state.reads.front() == Some(&slot) {
            state.reads.pop_front();
        } else if let Some(place) = state.reads.iter().position(|read| *read == slot) {
            state.reads.remove(place);
        }
    }

    /// Removes the first transaction from its die's queue, which is not empty. Does not maintain
    /// the list of reads.
    #[inline]
    pub(super) fn pop_front<F: Features>(&mut self, state: &mut DieState) -> Slot {
        let slot = state.first;
        let next = std::mem::replace(&mut self.transactions[slot as usize].next, NONE);
        state.first = next;
        if F::CHAINS && next != NONE {
            self.transactions[next as usize].previous = NONE;
        }
        slot
    }

    /// Reports the array work of a command since the die became busy, to a probe that wants
    /// fragments: one [`Observation::Array`] per plane. `programs` selects the program of a move.
    #[inline]
    pub(super) fn observe_array<P: DeviceProbe>(
        &self,
        now: Time,
        command: &DieCommand,
        programs: bool,
        probe: &mut P,
    ) {
        if !probe.wants_fragments() {
            return;
        }
        let DieCommand {
            head,
            operation,
            gc,
            busy_since: from,
            ..
        } = *command;
        let worked = match operation {
            Operation::Move if programs => Operation::Program,
            Operation::Move => Operation::Read,
            other => other,
        };
        let mut slot = head;
        while slot != NONE {
            let transaction = &self.transactions[slot as usize];
            let place = if programs {
                transaction.target
            } else {
                transaction.place
            };
            probe.observe(
                now,
                Observation::Array {
                    place,
                    from,
                    operation: worked,
                    gc,
                },
            );
            slot = transaction.next;
        }
    }
}
