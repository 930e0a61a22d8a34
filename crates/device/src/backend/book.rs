//! The queues of the dies, what each die is at, and what it has been used for.

use std::collections::VecDeque;

use wordline_kernel::{BusyTime, Probe, Time};
use wordline_nand::{Die, Operation};

use super::transaction::{NONE, Order, Slot, Transaction, Wait};
use crate::observation::{Observation, PageParts};

/// Time that a shared thing was held for garbage collection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GcClock {
    pub(super) total: Time,
    pub(super) since: Time,
    pub(super) running: bool,
}

impl GcClock {
    #[inline]
    pub(super) fn start(&mut self, now: Time, gc: bool) {
        self.since = now;
        self.running = gc;
    }
    #[inline]
    pub(super) fn stop(&mut self, now: Time) {
        if self.running {
            self.total += now - self.since;
            self.running = false;
        }
    }
    #[inline]
    pub(super) fn read(&self, now: Time) -> Time {
        if self.running {
            self.total + (now - self.since)
        } else {
            self.total
        }
    }
}

/// A command that a die is at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    /// Its first transaction; the others follow by `next`.
    pub(super) head: Slot,
    pub(super) operation: Operation,
    pub(super) gc: bool,
    pub(super) pages: u32,
    /// Whether the array is programming or erasing for it.
    pub(super) under_way: bool,
    /// Whether another die of the package was occupied at the same time.
    pub(super) interleaved: bool,
    pub(super) began: Time,
    /// Since when the die has been occupied without a break.
    pub(super) since: Time,
    /// Since when the die has been busy.
    pub(super) busy_since: Time,
    /// When it was laid aside last.
    pub(super) aside_since: Time,
    /// Where its time went.
    pub(super) parts: PageParts,
    /// Collection's share of the bus when the die asked for it.
    pub(super) bus_gc: Time,
}

impl Job {
    /// A die is given to a command: what is not set here is set when it first counts.
    #[inline]
    pub(super) fn begin(
        &mut self,
        now: Time,
        head: Slot,
        operation: Operation,
        gc: bool,
        pages: u32,
    ) {
        self.head = head;
        self.operation = operation;
        self.gc = gc;
        self.pages = pages;
        self.under_way = false;
        self.interleaved = false;
        self.began = now;
        self.since = now;
        self.aside_since = Time::ZERO;
        self.parts = PageParts::NONE;
    }
}

pub(super) const IDLE: Job = Job {
    head: NONE,
    operation: Operation::Read,
    gc: false,
    pages: 0,
    under_way: false,
    interleaved: false,
    began: Time::ZERO,
    since: Time::ZERO,
    busy_since: Time::ZERO,
    aside_since: Time::ZERO,
    parts: PageParts::NONE,
    bus_gc: Time::ZERO,
};

#[derive(Clone, Debug)]
pub(super) struct DieState {
    pub(super) job: Job,
    /// A command laid aside for reads.
    pub(super) aside: Option<Box<Job>>,
    pub(super) first: Slot,
    pub(super) last: Slot,
    /// Reads of the host in the queue, in order; kept if they can pass other operations.
    pub(super) reads: VecDeque<Slot>,
    pub(super) gc: GcClock,
    pub(super) usage: Usage,
    /// How long it was occupied, up to the last time it was left.
    pub(super) occupied: Time,
}

impl DieState {
    /// How long it has been occupied since the power came.
    pub(super) fn busy(&self) -> BusyTime {
        let Job { head, since, .. } = self.job;
        BusyTime::new(self.occupied, (head != NONE).then_some(since))
    }
}

/// What a die has been used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Array time summed over the planes that worked: reads, programs, erases.
    pub array: [Time; 3],
    /// Bus time.
    pub bus: Time,
    /// Waiting for the bus.
    pub bus_wait: Time,
    /// Array time of its commands, however many planes worked, and their short busy times.
    pub cell: Time,
}

/// The transactions that are on their way.
#[derive(Clone, Debug, Default)]
pub(super) struct Book {
    pub(super) transactions: Vec<Transaction>,
    pub(super) vacant: Vec<Slot>,
    /// Transactions that were numbered.
    came: u64,
    /// By transaction that is late: what its request had been through before it waited for the die.
    pub(super) earlier: Vec<PageParts>,
}

impl Book {
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
        transaction.wait = Wait {
            time: now,
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
    /// A place more.
    #[cold]
    #[inline(never)]
    fn extend(&mut self) -> Slot {
        self.transactions.push(Transaction::BLANK);
        self.transactions.len() as Slot - 1
    }

    /// Notes what the request of a transaction has been through before it waits for the die.
    pub(super) fn went_through(&mut self, slot: Slot, parts: &PageParts) {
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

    #[inline]
    pub(super) fn next(&self, slot: Slot) -> Slot {
        self.transactions[slot as usize].next
    }

    /// Puts a transaction at the end of its die's queue. Queues of plain dies are never left but from
    /// the front, and know of no transaction the one before.
    #[inline]
    pub(super) fn append<const PLAIN: bool>(&mut self, state: &mut DieState, slot: Slot) {
        if state.first == NONE {
            state.first = slot;
        } else {
            self.transactions[state.last as usize].next = slot;
            if !PLAIN {
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
    pub(super) fn pop_front<const PLAIN: bool>(&mut self, state: &mut DieState) -> Slot {
        let slot = state.first;
        let next = std::mem::replace(&mut self.transactions[slot as usize].next, NONE);
        state.first = next;
        if !PLAIN && next != NONE {
            self.transactions[next as usize].previous = NONE;
        }
        slot
    }

    /// Tells the probe that the array has worked for a command since the die became busy, be it that
    /// it `programs`: plane by plane, a piece of what [`Observation::Die`] says of the whole.
    #[inline]
    pub(super) fn observe_array<P: Probe<Observation>>(
        &self,
        now: Time,
        job: &Job,
        programs: bool,
        probe: &mut P,
    ) {
        if !P::HEARS_PIECES {
            return;
        }
        let Job {
            head,
            operation,
            gc,
            busy_since: from,
            ..
        } = *job;
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
