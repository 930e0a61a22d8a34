//! The flash back end: a queue for each die, a bus for each channel.
//!
//! A die executes one operation at a time, in the order of its queue. An operation holds its die
//! from its first command cycle to its last bus cycle, and the bus of its channel only in its bus
//! phases; the bus serves phases first come, first served.

use std::collections::VecDeque;

use wordline_kernel::{EventQueue, Probe, Time};
use wordline_nand::{Chains, Die, Layout, Operation, Ppn};

use crate::event::Event;
use crate::observation::{Observation, Parts};

/// A place in the table of transactions.
pub(crate) type Slot = u32;
const NONE: Slot = Slot::MAX;

/// Who waits for a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A host read.
    Read,
    /// A host write.
    Write,
    /// The read of a page of which the host writes a part.
    Merge,
    /// The read of a page that is collected.
    MoveRead,
    /// The program of a page that is collected.
    MoveProgram,
    /// The erase that ends a collection.
    Erase,
}

impl Purpose {
    pub const fn operation(self) -> Operation {
        match self {
            Self::Read | Self::Merge | Self::MoveRead => Operation::Read,
            Self::Write | Self::MoveProgram => Operation::Program,
            Self::Erase => Operation::Erase,
        }
    }
    pub const fn is_gc(self) -> bool {
        matches!(self, Self::MoveRead | Self::MoveProgram | Self::Erase)
    }
}

/// One flash operation on its way through the back end.
#[derive(Clone, Debug)]
pub(crate) struct Transaction {
    pub purpose: Purpose,
    /// Waits for the bus after the array phase rather than before.
    after_array: bool,
    die: Die,
    next: Slot,
    /// The page; for an erase the first of its block.
    pub place: Ppn,
    /// The request (host) or the plane (collection) that waits for it.
    pub owner: u32,
    /// For a merge: its place in the table of fragments. For a host page: the logical page.
    pub tag: u32,
    pub parts: Parts,
    /// Since when it waits for what it waits for, or the array works for it.
    since: Time,
    /// Collection's share of the die or bus at that time.
    gc_before: Time,
}

/// Time that a shared thing was held for garbage collection.
#[derive(Clone, Copy, Debug, Default)]
struct GcClock {
    total: Time,
    since: Time,
    running: bool,
}

impl GcClock {
    #[inline]
    fn start(&mut self, now: Time, gc: bool) {
        self.since = now;
        self.running = gc;
    }
    #[inline]
    fn stop(&mut self, now: Time) {
        if self.running {
            self.total += now - self.since;
            self.running = false;
        }
    }
    #[inline]
    fn read(&self, now: Time) -> Time {
        if self.running {
            self.total + (now - self.since)
        } else {
            self.total
        }
    }
}

#[derive(Clone, Debug)]
struct DieState {
    current: Slot,
    first: Slot,
    last: Slot,
    started: Time,
    gc: GcClock,
}

#[derive(Clone, Debug)]
struct Channel {
    current: Slot,
    waiting: VecDeque<Slot>,
    granted: Time,
    gc: GcClock,
}

/// Dies, buses and the transactions between them.
#[derive(Clone, Debug)]
pub(crate) struct BackEnd {
    layout: Layout,
    dies_per_channel: u32,
    chains: Chains,
    dies: Vec<DieState>,
    channels: Vec<Channel>,
    transactions: Vec<Transaction>,
    vacant: Vec<Slot>,
}

impl BackEnd {
    pub fn new(layout: Layout, dies_per_channel: u32, chains: Chains) -> Self {
        let die = DieState {
            current: NONE,
            first: NONE,
            last: NONE,
            started: Time::ZERO,
            gc: GcClock::default(),
        };
        let channel = Channel {
            current: NONE,
            waiting: VecDeque::new(),
            granted: Time::ZERO,
            gc: GcClock::default(),
        };
        let channels = layout.dies.div_ceil(dies_per_channel) as usize;
        Self {
            layout,
            dies_per_channel,
            chains,
            dies: vec![die; layout.dies as usize],
            channels: vec![channel; channels],
            transactions: Vec::new(),
            vacant: Vec::new(),
        }
    }

    #[inline]
    pub fn get(&self, slot: Slot) -> &Transaction {
        &self.transactions[slot as usize]
    }
    /// Forgets a finished transaction.
    #[inline]
    pub fn release(&mut self, slot: Slot) {
        self.vacant.push(slot);
    }

    /// Puts an operation at the end of its die's queue. `parts` is what its request has been
    /// through since admission.
    #[inline]
    pub fn enqueue(
        &mut self,
        now: Time,
        purpose: Purpose,
        place: Ppn,
        owner: u32,
        tag: u32,
        parts: Parts,
        queue: &mut EventQueue<Event>,
    ) -> Slot {
        let die = self.layout.die_of_page(place);
        let gc_before = self.dies[die.index()].gc.read(now);
        let transaction = Transaction {
            purpose,
            after_array: false,
            die,
            next: NONE,
            place,
            owner,
            tag,
            parts,
            since: now,
            gc_before,
        };
        let slot = if let Some(slot) = self.vacant.pop() {
            self.transactions[slot as usize] = transaction;
            slot
        } else {
            self.transactions.push(transaction);
            self.transactions.len() as Slot - 1
        };
        let state = &mut self.dies[die.index()];
        if state.current == NONE {
            self.start(now, slot, queue);
        } else {
            if state.first == NONE {
                state.first = slot;
            } else {
                self.transactions[state.last as usize].next = slot;
            }
            state.last = slot;
        }
        slot
    }

    /// Gives the die, which is idle, to the transaction.
    #[inline]
    fn start(&mut self, now: Time, slot: Slot, queue: &mut EventQueue<Event>) {
        let transaction = &mut self.transactions[slot as usize];
        let die = &mut self.dies[transaction.die.index()];
        let gc = die.gc.read(now) - transaction.gc_before;
        transaction.parts.gc += gc;
        transaction.parts.die_wait += now - transaction.since - gc;
        die.current = slot;
        die.started = now;
        die.gc.start(now, transaction.purpose.is_gc());
        self.request_bus(now, slot, queue);
    }

    #[inline]
    fn request_bus(&mut self, now: Time, slot: Slot, queue: &mut EventQueue<Event>) {
        let transaction = &mut self.transactions[slot as usize];
        let number = transaction.die.0 / self.dies_per_channel;
        let channel = &mut self.channels[number as usize];
        transaction.since = now;
        transaction.gc_before = channel.gc.read(now);
        if channel.current == NONE {
            self.grant(now, number, slot, queue);
        } else {
            channel.waiting.push_back(slot);
        }
    }

    #[inline]
    fn grant(&mut self, now: Time, number: u32, slot: Slot, queue: &mut EventQueue<Event>) {
        let transaction = &mut self.transactions[slot as usize];
        let channel = &mut self.channels[number as usize];
        let gc = channel.gc.read(now) - transaction.gc_before;
        transaction.parts.gc += gc;
        transaction.parts.bus_wait += now - transaction.since - gc;
        let chain = self.chains.of(transaction.purpose.operation());
        let held = if transaction.after_array {
            chain.collect
        } else {
            chain.issue
        };
        transaction.parts.bus += held;
        channel.current = slot;
        channel.granted = now;
        channel.gc.start(now, transaction.purpose.is_gc());
        queue.schedule(now + held, Event::BusDone(number));
    }

    /// A bus phase is over: passes the bus on, and the transaction to its array phase or, if that
    /// is behind it, to its end. Returns the finished transaction; its die is free again.
    #[inline]
    pub fn bus_done(
        &mut self,
        now: Time,
        number: u32,
        queue: &mut EventQueue<Event>,
        probe: &mut impl Probe<Observation>,
    ) -> Option<Slot> {
        let channel = &mut self.channels[number as usize];
        let slot = channel.current;
        channel.gc.stop(now);
        channel.current = NONE;
        let from = channel.granted;
        let next = channel.waiting.pop_front();
        let transaction = &mut self.transactions[slot as usize];
        probe.observe(
            now,
            Observation::Bus {
                channel: number,
                from,
                die: transaction.die,
                operation: transaction.purpose.operation(),
                gc: transaction.purpose.is_gc(),
            },
        );
        let finished = transaction.after_array;
        if !finished {
            let cell = self.chains.of(transaction.purpose.operation()).cell;
            transaction.parts.cell += cell;
            transaction.after_array = true;
            transaction.since = now;
            queue.schedule(now + cell, Event::ArrayDone(transaction.die.0));
        }
        if let Some(next) = next {
            self.grant(now, number, next, queue);
        }
        finished.then(|| {
            self.free_die(now, slot, queue, probe);
            slot
        })
    }

    #[inline]
    fn free_die(
        &mut self,
        now: Time,
        slot: Slot,
        queue: &mut EventQueue<Event>,
        probe: &mut impl Probe<Observation>,
    ) {
        let Transaction { die, purpose, .. } = self.transactions[slot as usize];
        let state = &mut self.dies[die.index()];
        state.gc.stop(now);
        state.current = NONE;
        let (from, operation, gc) = (state.started, purpose.operation(), purpose.is_gc());
        probe.observe(
            now,
            Observation::Die {
                die,
                from,
                operation,
                gc,
            },
        );
        let next = state.first;
        if next != NONE {
            state.first = self.transactions[next as usize].next;
            self.start(now, next, queue);
        }
    }

    /// An array phase is over: the transaction wants the bus. Returns it.
    #[inline]
    pub fn array_done(
        &mut self,
        now: Time,
        die: u32,
        queue: &mut EventQueue<Event>,
        probe: &mut impl Probe<Observation>,
    ) -> Slot {
        let slot = self.dies[die as usize].current;
        let transaction = self.get(slot);
        probe.observe(
            now,
            Observation::Array {
                place: transaction.place,
                from: transaction.since,
                operation: transaction.purpose.operation(),
                gc: transaction.purpose.is_gc(),
            },
        );
        self.request_bus(now, slot, queue);
        slot
    }
}
