//! The transactions on their way, and the queues of the dies.

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_nand::{Die, Features, Operation};

use super::die::{DieCommand, DieState};
use super::transaction::NONE;
use super::transaction::{Order, PageConditions, Queued, Transaction};
use crate::observation::{DeviceProbe, Observation, PageParts};
use wordline_io_scheduler::Slot;

/// The transactions that are on their way.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct TransactionTable {
    pub(super) transactions: Vec<Transaction>,
    pub(super) vacant: Vec<Slot>,
    /// Transactions that were numbered.
    came: u64,
    /// By transaction that is late: what its request had been through before it waited for the die.
    pub(super) earlier: Vec<PageParts>,
    /// By transaction that writes a part of a page: bytes of the page that are not the host's.
    pub(super) fills: Vec<u32>,
    /// By transaction, where pages are not all alike: how its page was, or is to be, programmed, and what its read finds.
    grades: Vec<PageConditions>,
}

impl TransactionTable {
    /// Takes on an operation of a die, of which collection has had `gc_before` so far.
    // Field by field, from registers: a transaction that is put together in memory first and then
    // copied with wider loads waits for its own stores.
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
    /// Notes that a transaction comes after all that were numbered before.
    #[inline]
    pub(super) fn number(&mut self, slot: Slot) {
        self.came += 1;
        self.transactions[slot as usize].number = self.came;
    }
    /// Notes what there is to know of the page of a transaction.
    pub(super) fn grade(&mut self, slot: Slot, grade: PageConditions) {
        let place = slot as usize;
        if self.grades.len() <= place {
            self.grades.resize(place + 1, PageConditions::default());
        }
        self.grades[place] = grade;
    }
    /// What was noted of it.
    pub(super) fn graded(&self, slot: Slot) -> PageConditions {
        self.grades.get(slot as usize).copied().unwrap_or_default()
    }
    /// So many array operations follow on the program of a command that begins with `head`, as it fails.
    pub(super) fn replaces(&mut self, head: Slot, following: u32) {
        if let Some(grade) = self.grades.get_mut(head as usize) {
            (grade.following, grade.has_failed) = (following, false);
        }
    }
    /// The array has worked for a command: whether it works on, as a program has failed, for its pages elsewhere. Until then, what
    /// it programs cannot be read. The read of a move comes before.
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
    /// A place more.
    #[cold]
    #[inline(never)]
    fn extend(&mut self) -> Slot {
        self.transactions.push(Transaction::BLANK);
        self.transactions.len() as Slot - 1
    }

    /// Notes what the request of a transaction has been through before it waits for the die.
    pub(super) fn add_earlier(&mut self, slot: Slot, parts: &PageParts) {
        let place = slot as usize;
        let transaction = &mut self.transactions[place];
        if self.earlier.len() <= place {
            self.earlier.resize(place + 1, PageParts::NONE);
        }
        if !transaction.is_late {
            transaction.is_late = true;
            self.earlier[place] = PageParts::NONE;
        }
        self.earlier[place].add(parts);
    }
    /// Notes of a write of a part of a page how many bytes of the page are not the host's.
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

    /// Puts a transaction at the end of its die's queue.
    #[inline]
    pub(super) fn append<F: Features>(&mut self, state: &mut DieState, slot: Slot) {
        if state.first == NONE {
            state.first = slot;
        } else {
            self.transactions[state.last as usize].next = slot;
            if F::GENERAL {
                self.transactions[slot as usize].previous = state.last;
            }
        }
        state.last = slot;
    }

    /// Takes a transaction out of its die's queue.
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
        if state.reads.front() == Some(&slot) {
            state.reads.pop_front();
        } else if let Some(place) = state.reads.iter().position(|read| *read == slot) {
            state.reads.remove(place);
        }
    }

    /// Takes the first transaction out of its die's queue, which is not empty. Reads are not kept.
    #[inline]
    pub(super) fn pop_front<F: Features>(&mut self, state: &mut DieState) -> Slot {
        let slot = state.first;
        let next = std::mem::replace(&mut self.transactions[slot as usize].next, NONE);
        state.first = next;
        if F::GENERAL && next != NONE {
            self.transactions[next as usize].previous = NONE;
        }
        slot
    }

    /// Tells the probe that the array has worked for a command since the die became busy, be it that
    /// it `programs`: plane by plane, a piece of what [`Observation::Die`] says of the whole.
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
