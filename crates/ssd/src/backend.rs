//! Flash back end: a queue per die, in front of the channels.
//!
//! A die executes one command at a time. A command is the first operation of the queue, with others
//! of the same kind on different planes if the composition joins them. The command occupies its die
//! from the time at which it leaves the queue until it ends, except while it is suspended. It uses
//! the channel's bus as its command chain requires (`wordline_nand::channel`). If the part can
//! suspend programs or erases, reads for which the host waits may overtake other operations.

mod ahead;
mod die;
mod finish;
mod join;
mod listener;
mod start;
mod suspension;
mod table;
mod transaction;
mod waiting;

use std::collections::VecDeque;

use ahead::Ahead;

pub use die::Usage;
use die::{DieCommand, DieState, GcClock};
pub(crate) use finish::{ArrayDone, DieReady};
use serde::{Deserialize, Serialize};
use table::TransactionTable;
use transaction::NONE;
pub(crate) use transaction::{Order, Outcome, PageConditions, Purpose, Transaction};
use waiting::Waiting;
use wordline_block::Ticket;
use wordline_io_scheduler::Slot;
use wordline_kernel::{BusyTime, Rng, Time};
use wordline_nand::{Block, Channels, Die, Layout, Operation, PlaneRule, Ppn};
use wordline_reliability::{Code, ModeCosts};

use crate::observation::PageComponents;
use crate::plan::{DieFeatures, Plan};
use wordline_io_scheduler::compose::{Compose, Composition, Look, MAX_PLANES, PlaneQueues};
use wordline_io_scheduler::schedule::Load;

/// Times of a finished command that was for neither GC nor a rewrite.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Finished {
    /// Latency components of the command.
    parts: PageComponents,
    began: Time,
    /// Time for which GC had used the die when the command started.
    gc_before: Time,
}

/// Dies, buses, and the transactions in progress.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools)] // independent properties of a plan
pub(crate) struct BackEnd {
    layout: Layout,
    plane_rule: PlaneRule,
    dies_per_package: u32,
    /// Maximum number of planes that one command may use.
    planes: u32,
    composition: Composition,
    /// Transactions examined for a command; kept to reuse the allocation.
    #[serde(skip)]
    look: Look,
    /// Queued transactions by plane; maintained if a command may use several planes.
    queues: PlaneQueues,
    suspends: bool,
    /// Maximum time for which reads may preempt another operation.
    longest: Time,
    /// Dies and buses, with the back end's state of each.
    channels: Channels<DieState, GcClock>,
    table: TransactionTable,
    draws: Rng,
    finished: Finished,
    /// Idle dies with queued operations, each listed once. They start at this instant.
    to_begin: Vec<Die>,
    /// Committed operations, by die; those of GC and rewrites do not count.
    loads: Vec<Load>,
    /// Whether a scheduler is notified of dies whose load has changed.
    is_scheduled: bool,
    features: DieFeatures,
    /// Die whose load changed with the last bus grant or signal of an R/B# pin.
    load_changed: Option<Die>,
    /// Whether operations depend on the modes or errors of their pages, or may fail.
    has_page_conditions: bool,
    /// Whether array times depend on the program modes of pages.
    has_modes: bool,
    /// Conditions of the page of the next operation.
    next_grade: PageConditions,
    /// Error-correcting code, if pages have errors.
    code: Option<Box<Code>>,
    /// Operations that wait, counted by request; `None` unless the regulation of program modes
    /// needs them.
    waiting: Option<Box<Waiting>>,
    /// Read-ahead of the dies, if enabled.
    ahead: Option<Box<Ahead>>,
}

impl BackEnd {
    /// Creates idle dies; their array times are drawn from `draws`.
    pub fn new(plan: &Plan, draws: Rng) -> Self {
        let state = DieState {
            command: DieCommand::IDLE,
            suspended: None,
            first: NONE,
            last: NONE,
            reads: VecDeque::new(),
            gc: GcClock::default(),
            usage: Usage::default(),
            occupied: Time::ZERO,
        };
        let part = &plan.part;
        let layout = part.layout;
        Self {
            layout,
            plane_rule: part.plane_rule,
            dies_per_package: plan.dies_per_package,
            planes: if plan.composition.joins() {
                layout.planes_per_die
            } else {
                1
            },
            composition: plan.composition.clone(),
            look: Look::default(),
            queues: PlaneQueues::new(&layout),
            suspends: part.suspend.program || part.suspend.erase,
            longest: Time::from_ns(part.suspend.longest_ns),
            channels: Channels::new(
                layout.dies,
                plan.dies_per_channel,
                part.chains.clone(),
                &part.arbitration,
                &part.suspend,
                (state, GcClock::default()),
            ),
            table: TransactionTable::default(),
            draws,
            finished: Finished::default(),
            to_begin: Vec::new(),
            loads: vec![Load::default(); layout.dies as usize],
            is_scheduled: plan.is_scheduled(),
            features: plan.die_features(),
            load_changed: None,
            has_page_conditions: plan.has_page_conditions(),
            has_modes: part.chains.costs().is_some(),
            next_grade: PageConditions::default(),
            code: part
                .reader
                .as_ref()
                .map(|reader| Box::new(reader.code.clone())),
            waiting: None,
            ahead: plan
                .read_ahead
                .as_ref()
                .map(|policy| Box::new(Ahead::new(policy, layout.dies))),
        }
    }

    /// Returns the costs of the program modes, if there are several modes.
    pub fn costs(&self) -> Option<&ModeCosts> {
        self.channels.chains().costs()
    }
    /// Sets the conditions of the page of the next operation.
    pub fn grade_next(&mut self, grade: PageConditions) {
        self.next_grade = grade;
    }
    /// Returns the conditions of the page of the next operation.
    pub fn next_grade(&self) -> PageConditions {
        self.next_grade
    }
    /// Returns the conditions of the page of a transaction.
    #[inline]
    pub fn graded(&self, slot: Slot) -> PageConditions {
        self.table.graded(slot)
    }
    /// Starts counting waiting operations by request.
    pub fn count_waiting(&mut self) {
        self.waiting = Some(Box::default());
    }
    /// Returns `true` if an operation of a request other than `ticket` waits for its die or the
    /// scheduler. Needs [`BackEnd::count_waiting`].
    pub fn others_wait(&self, ticket: Ticket) -> bool {
        let waiting = self.waiting.as_ref();
        waiting.is_some_and(|waiting| waiting.of_others(ticket))
    }

    /// Returns the generator of array times.
    pub fn draws(&self) -> &Rng {
        &self.draws
    }

    #[inline]
    pub fn get(&self, slot: Slot) -> &Transaction {
        &self.table.transactions[slot as usize]
    }

    /// Adds latency components that the request incurred before this transaction.
    pub fn add_earlier(&mut self, slot: Slot, parts: &PageComponents) {
        self.table.add_earlier(slot, parts);
    }

    /// Returns the latency components of a transaction of the last finished command that was for
    /// neither GC nor a rewrite.
    pub fn parts(&self, slot: Slot) -> PageComponents {
        let transaction = self.get(slot);
        let Finished {
            mut parts,
            began,
            gc_before,
        } = self.finished;
        let behind_gc = gc_before - transaction.queued.gc;
        parts.gc += behind_gc;
        parts.die_wait += began - transaction.queued.since - behind_gc;
        if transaction.is_late {
            parts.add(&self.table.earlier[slot as usize]);
        }
        parts
    }

    /// Returns the times of the last finished command that was for neither GC nor a rewrite.
    #[inline]
    pub fn finished(&self) -> &Finished {
        &self.finished
    }
    /// Restores `finished` as the last finished command, once its pages have been decoded.
    #[inline]
    pub fn finish_again(&mut self, finished: &Finished) {
        self.finished = *finished;
    }
    /// Returns the next transaction of the same command, or `None` after the last one.
    #[inline]
    pub fn joined(&self, slot: Slot) -> Option<Slot> {
        self.get(slot).joined()
    }

    /// Releases a finished or cancelled transaction.
    #[inline]
    pub fn release(&mut self, slot: Slot) {
        self.table.vacant.push(slot);
    }
    /// Assigns a page to a program that was admitted without one, and sets its final tag and
    /// superseded block.
    pub fn bind(&mut self, slot: Slot, place: Ppn, tag: u32, superseded: Option<Block>) {
        let transaction = &mut self.table.transactions[slot as usize];
        (transaction.place, transaction.target) = (place, place);
        (transaction.tag, transaction.superseded) = (tag, superseded.into());
    }
    /// Sets the number of bytes of the page that a host write does not cover. A value of 0, for a
    /// whole page, is not recorded.
    #[inline]
    pub fn fill(&mut self, slot: Slot, bytes: u32) {
        if bytes > 0 {
            self.table.fill(slot, bytes);
        }
    }
    /// Returns the number of bytes of the page that a partial write does not cover.
    pub fn fill_of(&self, slot: Slot) -> u32 {
        let fill = self.table.fills.get(slot as usize);
        fill.copied().unwrap_or_default()
    }

    /// Returns all transactions in progress, with their dies; for audits.
    pub fn in_flight(&self) -> impl Iterator<Item = (Slot, Die, &Transaction)> {
        let mut live = vec![true; self.table.transactions.len()];
        for slot in &self.table.vacant {
            live[*slot as usize] = false;
        }
        let all = (0..).zip(self.table.transactions.iter().zip(live));
        all.filter_map(|(slot, (transaction, live))| {
            live.then_some((slot, transaction.die, transaction))
        })
    }

    /// Returns the die features, which select the compiled variant of the die code.
    #[inline]
    pub fn features(&self) -> DieFeatures {
        self.features
    }

    /// Returns the usage of each die since power-on.
    pub fn usage(&self) -> impl Iterator<Item = Usage> + '_ {
        self.channels.dies().map(|state| state.usage)
    }

    /// Sets the slowness of a die, as [`Channels::slow_down`] does.
    pub fn slow_die(&mut self, die: Die, slowness: u32) {
        self.channels.slow_down(die, slowness);
    }
    /// Copies the slowness of every die from another back end of the same size.
    pub fn keep_slow_dies(&mut self, other: &Self) {
        self.channels.keep_slow_dies(&other.channels);
    }

    /// Returns the occupied time of each die since power-on.
    pub fn dies_busy(&self) -> impl Iterator<Item = BusyTime> + '_ {
        self.channels.dies().map(DieState::busy)
    }

    /// Returns the busy time of each bus since power-on.
    pub fn buses_busy(&self) -> impl Iterator<Item = BusyTime> + '_ {
        self.channels.buses_busy()
    }

    /// Returns the committed operations, by die. Those of GC and rewrites do not count.
    #[inline]
    pub fn loads(&self) -> &[Load] {
        &self.loads
    }

    /// Returns and clears the die whose load changed with the last bus grant or signal of an R/B#
    /// pin.
    #[inline]
    pub fn load_changed(&mut self) -> Option<Die> {
        self.load_changed.take()
    }

    /// Returns the programs and erases in progress in the arrays, including suspended ones. If
    /// power fails, their pages become unreadable.
    pub fn under_way(&self) -> Vec<(Operation, Ppn)> {
        let mut found = Vec::new();
        for state in self.channels.dies() {
            for command in state
                .suspended
                .as_deref()
                .into_iter()
                .chain([&state.command])
            {
                let mut slot = if command.under_way {
                    command.head
                } else {
                    NONE
                };
                while slot != NONE {
                    let transaction = self.get(slot);
                    found.push((command.operation, transaction.target));
                    slot = transaction.next;
                }
            }
        }
        found
    }
}
