//! A package by itself: transactions in, completions out.
//!
//! The dies of a package share one bus. Transactions of a die are carried out in the order of their
//! submission; those of different dies at the same time if the package interleaves its dies,
//! otherwise one after another.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::{EventHeap, Stream, Time};

use crate::array::{Array, Violation};
use crate::chain::{Chains, Stage, Step};
use crate::channel::{BusHold, Channels, Event, Listen, Readied};
use crate::command::Command;
use crate::energy::Energy;
use crate::features::Full;
use crate::part::Part;
use crate::registers::{ArrayBusy, Confirm};
use crate::transaction::{Mode, Operation, Transaction, TransactionError};
use crate::{Die, Layout, PlaneRule, Ppn};

/// A transaction that has been carried out, or has failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// Its number, counted from 0 in the order of submission.
    pub number: u64,
    /// Whether the array accepted it.
    pub result: Result<(), Violation>,
    /// When it was submitted.
    pub submitted: Time,
    /// When its die began with it.
    pub started: Time,
    /// When it was over: data out, or status read.
    pub completed: Time,
    /// When each row was done, if there are several.
    pub rows: Vec<Time>,
    /// Time spent in each stage, in the order of [`Stage::ALL`].
    pub stages: [Time; 8],
    /// Time spent in line for the bus.
    pub bus_wait: Time,
}

/// A transaction that could not be submitted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SubmitError {
    /// The transaction itself is wrong.
    #[error(transparent)]
    Transaction(#[from] TransactionError),
    /// It comes from the past.
    #[error("submitted at {at}, but the package is at {now} already; submit in the order of time")]
    Late {
        /// When it was submitted.
        at: Time,
        /// The package's time.
        now: Time,
    },
}

/// A stretch of time that a die spent in a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strip {
    /// Number of the transaction.
    pub transaction: u64,
    /// The die.
    pub die: Die,
    /// The stage.
    pub stage: Stage,
    /// The command's code, if the stage is a command.
    pub command: Option<u8>,
    /// Start.
    pub from: Time,
    /// End.
    pub until: Time,
}

/// What a die has been through in one mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Transactions.
    pub transactions: u64,
    /// Time in each stage, in the order of [`Stage::ALL`].
    pub stages: [Time; 8],
    /// Array time summed over the planes that worked: reads, programs, erases.
    pub planes: [Time; 3],
}

impl Usage {
    /// Bus time.
    pub fn bus(&self) -> Time {
        let stages = Stage::ALL.iter().zip(self.stages);
        let bus = stages.filter(|(stage, _)| stage.resource() == crate::Resource::Bus);
        bus.map(|(_, time)| time).sum()
    }
    /// Array time: commands, not planes.
    pub fn array(&self) -> Time {
        self.stages.iter().copied().sum::<Time>() - self.bus()
    }
    /// Energy of array reads, programs and erases, and of the bus. Nanojoule.
    pub fn energy_nj(&self, energy: &Energy) -> [f64; 4] {
        energy.stages_nj(self.planes, self.bus())
    }
}

#[derive(Clone, Debug)]
struct Pending {
    number: u64,
    operation: Operation,
    mode: Mode,
    die: Die,
    pages: Vec<Ppn>,
    targets: Vec<Ppn>,
    planes: u32,
    submitted: Time,
    started: Time,
    /// Rows whose array work has begun.
    begun: usize,
    rows: Vec<Time>,
    stages: [Time; 8],
    bus_wait: Time,
    result: Result<(), Violation>,
}

impl Pending {
    fn transaction(&self) -> Transaction<'_> {
        Transaction {
            operation: self.operation,
            pages: &self.pages,
            targets: &self.targets,
            planes: self.planes,
        }
    }
    /// The pages that the array works on next.
    fn row(&self, confirm: Confirm) -> &[Ppn] {
        let planes = self.planes as usize;
        if self.operation == Operation::Move {
            return match confirm {
                Confirm::Read(_) => &self.pages,
                _ => &self.targets,
            };
        }
        &self.pages[self.begun * planes..(self.begun + 1) * planes]
    }
}

/// A place among the transactions.
type Slot = u32;
const NONE: Slot = Slot::MAX;

/// The transactions, and what they have cost.
#[derive(Clone, Debug)]
struct Ledger {
    transactions: Vec<Pending>,
    vacant: Vec<Slot>,
    /// By die: what it is at.
    current: Vec<Slot>,
    /// By die and mode.
    usage: Vec<[Usage; Mode::ALL.len()]>,
    strips: Option<Vec<Strip>>,
}

/// Everything beside the channels.
#[derive(Clone, Debug)]
struct Book {
    layout: Layout,
    queue: EventHeap<Event>,
    array: Array,
    chains: Chains,
    ledger: Ledger,
}

impl Ledger {
    fn of(&mut self, die: Die) -> &mut Pending {
        &mut self.transactions[self.current[die.index()] as usize]
    }
    fn keep(&mut self, die: Die, stage: Stage, command: Option<u8>, from: Time, until: Time) {
        let transaction = self.of(die).number;
        if let Some(strips) = &mut self.strips {
            strips.push(Strip {
                transaction,
                die,
                stage,
                command,
                from,
                until,
            });
        }
    }
    /// Books a transaction that is over.
    #[inline]
    fn close(&mut self, slot: Slot) {
        let pending = &self.transactions[slot as usize];
        let usage = &mut self.usage[pending.die.index()][pending.mode as usize];
        usage.transactions += 1;
        for (sum, time) in usage.stages.iter_mut().zip(pending.stages) {
            *sum += time;
        }
        let array = [Stage::Ton, Stage::Tin, Stage::Ber];
        for (sum, stage) in usage.planes.iter_mut().zip(array) {
            *sum += pending.stages[stage as usize] * u64::from(pending.planes);
        }
    }
}

impl Book {
    /// Whether the array does it: either all planes or none.
    fn touch(&mut self, die: Die, confirm: Confirm) -> Result<(), Violation> {
        let slot = self.ledger.current[die.index()];
        let pending = &self.ledger.transactions[slot as usize];
        let row = pending.row(confirm);
        match Stage::of_array(confirm) {
            Some(Stage::Ton) => row.iter().try_for_each(|page| self.array.read(*page)),
            Some(Stage::Tin) => {
                row.iter()
                    .try_for_each(|page| self.array.may_program(*page))?;
                row.iter().try_for_each(|page| self.array.program(*page))
            }
            Some(Stage::Ber) => {
                let layout = self.layout;
                let mut blocks = row.iter().map(|page| layout.block_of(*page));
                blocks
                    .clone()
                    .try_for_each(|block| self.array.may_erase(block))?;
                blocks.try_for_each(|block| self.array.erase(block))
            }
            _ => Ok(()),
        }
    }
}

impl Listen for Book {
    type Features = Full;
    type OfDie = ();
    type OfBus = ();
    #[inline]
    fn schedule(&mut self, at: Time, event: Event) {
        self.queue.schedule(at, event);
    }
    #[inline]
    fn waits(&mut self, _: Time, (): &mut (), (): &mut ()) {}
    #[inline]
    fn granted(&mut self, now: Time, die: Die, (): &mut (), (): &mut (), since: Time, _: Time) {
        self.ledger.of(die).bus_wait += now - since;
    }
    #[inline]
    fn released(&mut self, _now: Time, held: BusHold<'_, (), ()>, step: &Step) {
        let BusHold { die, from, .. } = held;
        let Self { chains, ledger, .. } = self;
        let times = chains.stage_times(&step.hold);
        for (sum, time) in ledger.of(die).stages.iter_mut().zip(times) {
            *sum += time;
        }
        if ledger.strips.is_some() {
            let mut at = from;
            chains.stages(&step.hold, |stage, command, time| {
                let code = command.map(Command::code);
                ledger.keep(die, stage, code, at, at + time);
                at += time;
            });
        }
    }
    fn allows(&mut self, _now: Time, die: Die, confirm: Confirm) -> bool {
        if Stage::of_array(confirm).is_none() {
            return true;
        }
        match self.touch(die, confirm) {
            Ok(()) => true,
            Err(violation) => {
                self.ledger.of(die).result = Err(violation);
                false
            }
        }
    }
    #[inline]
    fn busy(&mut self, _: Time, die: Die, (): &mut (), step: &Step, work: ArrayBusy, _: Time) {
        let Some(stage) = step.confirm.and_then(Stage::of_array) else {
            return;
        };
        let pending = self.ledger.of(die);
        pending.begun += 1;
        pending.stages[stage as usize] += work.time();
        if self.ledger.strips.is_some() {
            self.ledger.keep(die, stage, None, work.from, work.until);
        }
    }
    fn suspended(&mut self, _: Time, (): &mut (), _: Confirm, _: Time, _: Time) {}
    fn interrupted(&mut self, _: Time, _: BusHold<'_, (), ()>) {}
}

/// A package.
#[derive(Clone, Debug)]
pub struct Package {
    layout: Layout,
    plane_rule: PlaneRule,
    interleaved: bool,
    now: Time,
    channels: Channels<(), ()>,
    book: Book,
    draws: Stream,
    /// By die, or one for all if dies are not interleaved.
    lines: Vec<VecDeque<Slot>>,
    in_flight: u32,
    submitted: u64,
    completed: u64,
    done: VecDeque<Completion>,
}

impl Package {
    /// What a package takes of memory, of which nothing is programmed.
    pub fn memory(part: &Part) -> Vec<Table> {
        let blank = Fill {
            logical: 0.0,
            physical: 0.0,
        };
        Array::memory(&part.layout, part.partial_programs, blank)
    }
    /// A pristine package of one channel. With `interleaved`, its dies work at the same time.
    pub fn new(part: &Part, interleaved: bool) -> Self {
        let layout = part.layout;
        let dies = layout.dies as usize;
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
            book: Book {
                layout,
                queue: EventHeap::default(),
                array,
                chains: part.chains.clone(),
                ledger: Ledger {
                    transactions: Vec::new(),
                    vacant: Vec::new(),
                    current: vec![NONE; dies],
                    usage: vec![<[Usage; Mode::ALL.len()]>::default(); dies],
                    strips: None,
                },
            },
            draws: Stream::new(part.seed, "nand.array"),
            lines: vec![VecDeque::new(); if interleaved { dies } else { 1 }],
            in_flight: 0,
            submitted: 0,
            completed: 0,
            done: VecDeque::new(),
        }
    }

    /// From here on every stage of every transaction is kept; see [`Package::strips`].
    pub fn keep_strips(&mut self) {
        self.book.ledger.strips.get_or_insert_default();
    }
    /// The stages kept, in the order of their ends; array stages in that of their beginnings.
    pub fn strips(&self) -> &[Strip] {
        self.book.ledger.strips.as_deref().unwrap_or_default()
    }
    /// The time of the last event.
    pub const fn now(&self) -> Time {
        self.now
    }
    /// Transactions submitted and not completed.
    pub fn outstanding(&self) -> u64 {
        self.submitted - self.completed
    }
    /// What a die has been through, by mode in the order of [`Mode::ALL`].
    pub fn usage(&self, die: Die) -> &[Usage; Mode::ALL.len()] {
        &self.book.ledger.usage[die.index()]
    }
    /// The array, to look at.
    pub const fn array(&self) -> &Array {
        &self.book.array
    }
    /// The array, to bring it into a state without taking time.
    pub const fn array_mut(&mut self) -> &mut Array {
        &mut self.book.array
    }

    /// Submits a transaction at `at`, not before the last event. What happens at the same instant
    /// happens first. Returns its number.
    pub fn submit(&mut self, at: Time, transaction: &Transaction<'_>) -> Result<u64, SubmitError> {
        if at < self.now {
            return Err(SubmitError::Late { at, now: self.now });
        }
        transaction.check(&self.layout, self.plane_rule)?;
        while self.book.queue.next_time().is_some_and(|next| next <= at) {
            self.step();
        }
        self.now = at;
        let number = self.submitted;
        self.submitted += 1;
        let slot = self.admit(number, transaction);
        let die = self.book.ledger.transactions[slot as usize].die;
        let line = if self.interleaved { die.index() } else { 0 };
        self.lines[line].push_back(slot);
        self.start_next(line);
        Ok(number)
    }

    fn admit(&mut self, number: u64, transaction: &Transaction<'_>) -> Slot {
        let die = self.layout.die_of_page(transaction.pages[0]);
        let slot = self.book.ledger.vacant.pop().unwrap_or_else(|| {
            self.book.ledger.transactions.push(Pending {
                number,
                operation: Operation::Read,
                mode: Mode::Legacy,
                die,
                pages: Vec::new(),
                targets: Vec::new(),
                planes: 1,
                submitted: Time::ZERO,
                started: Time::ZERO,
                begun: 0,
                rows: Vec::new(),
                stages: [Time::ZERO; 8],
                bus_wait: Time::ZERO,
                result: Ok(()),
            });
            self.book.ledger.transactions.len() as Slot - 1
        });
        let pending = &mut self.book.ledger.transactions[slot as usize];
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

    /// Starts the first transaction of a line, if its die is free and nothing else is in the way.
    fn start_next(&mut self, line: usize) {
        let Some(&slot) = self.lines[line].front() else {
            return;
        };
        let Self {
            channels,
            book,
            draws,
            layout,
            ..
        } = self;
        let pending = &mut book.ledger.transactions[slot as usize];
        let die = pending.die;
        if !channels.is_free(die) || (!self.interleaved && self.in_flight > 0) {
            return;
        }
        pending.started = self.now;
        let transaction = pending.transaction();
        channels.load(die, |chains, steps| {
            chains.build(layout, &transaction, draws, steps);
        });
        book.ledger.current[die.index()] = slot;
        self.lines[line].pop_front();
        self.in_flight += 1;
        channels.start(self.now, die, book);
    }

    /// The next completion; `None` when everything submitted is done.
    pub fn next_completion(&mut self) -> Option<Completion> {
        while self.done.is_empty() && self.step() {}
        self.done.pop_front()
    }

    /// Handles one event; false if there is none.
    fn step(&mut self) -> bool {
        let Some((now, event)) = self.book.queue.pop() else {
            return false;
        };
        self.now = now;
        match event {
            Event::Ready(die) => {
                let readied = self.channels.ready(now, Die(die), &mut self.book);
                debug_assert!(matches!(readied, Readied::Done(_)), "nothing is suspended");
            }
            Event::BusDone(channel) => {
                let released = self.channels.bus_done(now, channel, &mut self.book);
                self.row_done(released.die, released.rows, released.ended);
            }
        }
        true
    }

    fn row_done(&mut self, die: Die, rows: u8, ended: bool) {
        let slot = self.book.ledger.current[die.index()];
        let pending = &mut self.book.ledger.transactions[slot as usize];
        if pending.pages.len() > pending.planes as usize && pending.result.is_ok() {
            (0..rows).for_each(|_| pending.rows.push(self.now));
        }
        if !ended {
            return;
        }
        self.done.push_back(Completion {
            number: pending.number,
            result: std::mem::replace(&mut pending.result, Ok(())),
            submitted: pending.submitted,
            started: pending.started,
            completed: self.now,
            rows: std::mem::take(&mut pending.rows),
            stages: pending.stages,
            bus_wait: pending.bus_wait,
        });
        self.book.ledger.close(slot);
        self.book.ledger.vacant.push(slot);
        self.book.ledger.current[die.index()] = NONE;
        self.in_flight -= 1;
        self.completed += 1;
        self.start_next(if self.interleaved { die.index() } else { 0 });
    }
}
