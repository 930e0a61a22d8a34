//! Simulation of a package without a controller: it accepts transactions and returns completions.
//!
//! The dies of a package share one bus. A die executes its transactions in order of submission.
//! Different dies work at the same time if the package interleaves its dies, and otherwise one
//! after another.

mod dies;
mod outcome;
mod transactions;

use std::collections::VecDeque;

use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::{EventHeap, Rng, Time};

use crate::array::Array;
use crate::channel::{Channels, Event, ReadyOutcome, Released};
use crate::part::Part;
use crate::transaction::{Mode, Transaction};
use crate::{Die, Layout, PlaneRule};
use dies::Dies;
use transactions::{NONE, Pending, Slot, Transactions};

pub use outcome::{Completion, Strip, SubmitError, Usage};

/// NAND package, simulated alone.
#[derive(Clone, Debug)]
pub struct Package {
    layout: Layout,
    plane_rule: PlaneRule,
    interleaved: bool,
    now: Time,
    channels: Channels<(), ()>,
    dies: Dies,
    draws: Rng,
    /// Queue of each die, or one queue for all dies if they are not interleaved.
    lines: Vec<VecDeque<Slot>>,
    in_flight: u32,
    submitted: u64,
    completed: u64,
    done: VecDeque<Completion>,
}

impl Package {
    /// Returns the tables of an erased package, with the memory of each.
    pub fn memory(part: &Part) -> Vec<Table> {
        let blank = Fill {
            logical: 0.0,
            physical: 0.0,
        };
        Array::memory(&part.layout, part.partial_programs, blank)
    }
    /// Creates an erased package of one channel. With `interleaved`, its dies work at the same
    /// time.
    pub fn new(part: &Part, interleaved: bool) -> Self {
        let layout = part.layout;
        let die_count = layout.dies as usize;
        let suspend = &part.suspend;
        let (chains, arbitration) = (part.chains.clone(), &part.arbitration);
        let array =
            Array::new(layout, part.endurance_cycles).with_partial_programs(part.partial_programs);
        Self {
            layout,
            plane_rule: part.plane_rule,
            interleaved,
            now: Time::ZERO,
            channels: Channels::new(
                layout.dies,
                layout.dies,
                chains,
                arbitration,
                suspend,
                ((), ()),
            ),
            dies: Dies {
                layout,
                queue: EventHeap::default(),
                array,
                chains: part.chains.clone(),
                transactions: Transactions {
                    all: Vec::new(),
                    vacant: Vec::new(),
                    current: vec![NONE; die_count],
                    usage: vec![<[Usage; Mode::ALL.len()]>::default(); die_count],
                    strips: None,
                },
            },
            draws: Rng::new(part.seed, "nand.array"),
            lines: vec![VecDeque::new(); if interleaved { die_count } else { 1 }],
            in_flight: 0,
            submitted: 0,
            completed: 0,
            done: VecDeque::new(),
        }
    }

    /// Starts recording every stage of every transaction, for [`Package::strips`].
    pub fn keep_strips(&mut self) {
        self.dies.transactions.strips.get_or_insert_default();
    }
    /// Returns the recorded stages: bus stages in order of their end, array stages in order of
    /// their start.
    pub fn strips(&self) -> &[Strip] {
        self.dies.transactions.strips.as_deref().unwrap_or_default()
    }
    /// Returns the time of the last event or submission.
    pub const fn now(&self) -> Time {
        self.now
    }
    /// Returns the number of transactions submitted and not completed.
    pub fn outstanding(&self) -> u64 {
        self.submitted - self.completed
    }
    /// Returns the usage of a die per operation mode, in the order of [`Mode::ALL`].
    pub fn usage(&self, die: Die) -> &[Usage; Mode::ALL.len()] {
        &self.dies.transactions.usage[die.index()]
    }
    /// Returns the state of the array.
    pub const fn array(&self) -> &Array {
        &self.dies.array
    }
    /// Returns mutable access to the array, to prepare its state without simulated time.
    pub const fn array_mut(&mut self) -> &mut Array {
        &mut self.dies.array
    }

    /// Submits a transaction at `at`, which must not be earlier than [`Package::now`]. Pending
    /// events up to that time are processed first. Returns the number of the transaction.
    pub fn submit(&mut self, at: Time, transaction: &Transaction<'_>) -> Result<u64, SubmitError> {
        if at < self.now {
            return Err(SubmitError::Late { at, now: self.now });
        }
        transaction.check(&self.layout, self.plane_rule)?;
        while self.dies.queue.next_time().is_some_and(|next| next <= at) {
            self.step();
        }
        self.now = at;
        let number = self.submitted;
        self.submitted += 1;
        let slot = self.admit(number, transaction);
        let die = self.dies.transactions.all[slot as usize].die;
        let line = if self.interleaved { die.index() } else { 0 };
        self.lines[line].push_back(slot);
        self.start_next(line);
        Ok(number)
    }

    fn admit(&mut self, number: u64, transaction: &Transaction<'_>) -> Slot {
        let die = self.layout.die_of_page(transaction.pages[0]);
        let slot = self.dies.transactions.vacant.pop().unwrap_or_else(|| {
            self.dies.transactions.all.push(Pending::default());
            self.dies.transactions.all.len() as Slot - 1
        });
        let pending = &mut self.dies.transactions.all[slot as usize];
        pending.number = number;
        pending.operation = transaction.operation;
        pending.mode = transaction.mode();
        pending.die = die;
        pending.pages.clear();
        pending.pages.extend_from_slice(transaction.pages);
        pending.targets.clear();
        pending.targets.extend_from_slice(transaction.targets);
        pending.planes = transaction.planes;
        pending.submitted = self.now;
        pending.begun = 0;
        pending.stages = [Time::ZERO; 8];
        pending.bus_wait = Time::ZERO;
        slot
    }

    /// Starts the first transaction of a queue if its die is free and no other transaction prevents
    /// it.
    fn start_next(&mut self, line: usize) {
        let Some(&slot) = self.lines[line].front() else {
            return;
        };
        let Self {
            channels,
            dies,
            draws,
            layout,
            ..
        } = self;
        let pending = &mut dies.transactions.all[slot as usize];
        let die = pending.die;
        if !channels.is_free(die) || (!self.interleaved && self.in_flight > 0) {
            return;
        }
        pending.started = self.now;
        let transaction = pending.transaction();
        channels.load(die, |chains, steps| {
            chains.build(layout, &transaction, draws, steps);
        });
        dies.transactions.current[die.index()] = slot;
        self.lines[line].pop_front();
        self.in_flight += 1;
        channels.start(self.now, die, dies);
    }

    /// Returns the next completion, or `None` when all transactions are complete.
    pub fn next_completion(&mut self) -> Option<Completion> {
        while self.done.is_empty() && self.step() {}
        self.done.pop_front()
    }

    /// Processes one event. Returns `false` if there is none.
    fn step(&mut self) -> bool {
        let Some((now, event)) = self.dies.queue.pop() else {
            return false;
        };
        self.now = now;
        match event {
            Event::Ready(die) => match self.channels.ready(now, Die(die), &mut self.dies) {
                ReadyOutcome::Done(_) => {}
                ReadyOutcome::Reported(released) => self.row_done(released),
                ReadyOutcome::Suspended | ReadyOutcome::Stale => {
                    debug_assert!(false, "nothing is suspended");
                }
            },
            Event::BusDone(channel) => {
                let released = self.channels.bus_done(now, channel, &mut self.dies);
                self.row_done(released);
            }
        }
        true
    }

    fn row_done(&mut self, released: Released) {
        let Released {
            die, rows, ended, ..
        } = released;
        let slot = self.dies.transactions.current[die.index()];
        let pending = &mut self.dies.transactions.all[slot as usize];
        if pending.pages.len() > pending.planes as usize && pending.violation.is_none() {
            (0..rows).for_each(|_| pending.rows.push(self.now));
        }
        if !ended {
            return;
        }
        self.done.push_back(Completion {
            number: pending.number,
            result: pending.violation.take().map_or(Ok(()), Err),
            submitted: pending.submitted,
            started: pending.started,
            completed: self.now,
            rows: std::mem::take(&mut pending.rows),
            stages: pending.stages,
            bus_wait: pending.bus_wait,
        });
        self.dies.transactions.close(slot);
        self.dies.transactions.vacant.push(slot);
        self.dies.transactions.current[die.index()] = NONE;
        self.in_flight -= 1;
        self.completed += 1;
        self.start_next(if self.interleaved { die.index() } else { 0 });
    }
}
