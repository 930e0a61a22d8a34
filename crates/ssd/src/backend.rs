//! The flash back end: a queue for each die, in front of the channels.
//!
//! A die executes one command at a time, in the order of its queue; a command is one operation, or
//! several of the same kind on different planes where the composition says so. The command holds its
//! die from its first cycle to its last, and the bus of its channel as its chain says
//! (`wordline_nand::channel`). Reads of the host may pass a program or an erase that is suspended
//! for them.

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

use crate::observation::PageParts;
use crate::plan::Plan;
use wordline_io_scheduler::compose::{Compose, Composition};
use wordline_io_scheduler::schedule::Load;

/// Planes that one command takes at most.
const MAX_PLANES: usize = 64;

/// A command that has finished and was not for collection.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Finished {
    /// What it went through.
    parts: PageParts,
    began: Time,
    /// How long collection had had the die when it began.
    gc_before: Time,
}

/// Dies, buses and the transactions between them.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools)] // what a plan says, each looked at by itself
pub(crate) struct BackEnd {
    layout: Layout,
    plane_rule: PlaneRule,
    dies_per_package: u32,
    /// Planes that one command may take.
    planes: u32,
    composition: Composition,
    /// What the composition has picked; kept for its memory.
    picked: Vec<usize>,
    suspends: bool,
    /// Longest time for which reads go before another operation.
    longest: Time,
    /// The dies and the buses, and what is kept of them.
    channels: Channels<DieState, GcClock>,
    table: TransactionTable,
    draws: Rng,
    finished: Finished,
    /// Idle dies with something in their queues, which begin at this instant; each once.
    to_begin: Vec<Die>,
    /// What is committed, by die.
    loads: Vec<Load>,
    /// Whether there is a scheduler, who looks at dies whose load has changed.
    is_scheduled: bool,
    is_basic: bool,
    /// A die whose load has changed with the last hold of a bus.
    load_changed: Option<Die>,
    /// Whether operations take what the modes of their pages say.
    has_page_conditions: bool,
    /// What there is to know of the page of the operation that comes next.
    next_grade: PageConditions,
    /// What corrects errors, where there are any.
    code: Option<Box<Code>>,
    /// Operations that wait, where somebody asks.
    waiting: Option<Box<Waiting>>,
    /// Where dies read ahead.
    ahead: Option<Box<Ahead>>,
}

impl BackEnd {
    /// Idle dies; their array times are drawn from `draws`.
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
            picked: Vec::new(),
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
            is_basic: plan.has_basic_dies(),
            load_changed: None,
            has_page_conditions: plan.has_page_conditions(),
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

    /// What operations take by the modes of their pages, where not all are alike.
    pub fn costs(&self) -> Option<&ModeCosts> {
        self.channels.chains().costs()
    }
    /// Says what there is to know of the page of the operation that comes next.
    pub fn grade_next(&mut self, grade: PageConditions) {
        self.next_grade = grade;
    }
    /// What was said of it.
    pub fn next_grade(&self) -> PageConditions {
        self.next_grade
    }
    /// What there is to know of the page of a transaction.
    pub fn graded(&self, slot: Slot) -> PageConditions {
        self.table.graded(slot)
    }
    /// From now on, what waits is counted by request.
    pub fn count_waiting(&mut self) {
        self.waiting = Some(Box::default());
    }
    /// Whether an operation of another request than this waits for its die, or for the scheduler; if that is counted.
    pub fn others_wait(&self, ticket: Ticket) -> bool {
        let waiting = self.waiting.as_ref();
        waiting.is_some_and(|waiting| waiting.of_others(ticket))
    }

    /// Where array times are drawn from.
    pub fn draws(&self) -> &Rng {
        &self.draws
    }

    #[inline]
    pub fn get(&self, slot: Slot) -> &Transaction {
        &self.table.transactions[slot as usize]
    }

    /// What the request of a transaction had been through before it was given one.
    pub fn add_earlier(&mut self, slot: Slot, parts: &PageParts) {
        self.table.add_earlier(slot, parts);
    }

    /// Where the time of a transaction went that is among those that have finished last, and not for
    /// collection.
    pub fn parts(&self, slot: Slot) -> PageParts {
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

    /// The command that has finished last, if it was not for collection.
    pub fn finished(&self) -> Finished {
        self.finished
    }
    /// A command that finished earlier is the one that has finished last.
    pub fn finish_again(&mut self, finished: Finished) {
        self.finished = finished;
    }
    /// The next transaction of the same command.
    #[inline]
    pub fn joined(&self, slot: Slot) -> Option<Slot> {
        self.get(slot).joined()
    }

    /// Forgets a finished transaction.
    #[inline]
    pub fn release(&mut self, slot: Slot) {
        self.table.vacant.push(slot);
    }
    /// A program that was admitted without a place is to go there; what it was admitted for otherwise is told, too.
    pub fn bind(&mut self, slot: Slot, place: Ppn, tag: u32, superseded: Option<Block>) {
        let transaction = &mut self.table.transactions[slot as usize];
        (transaction.place, transaction.target) = (place, place);
        (transaction.tag, transaction.superseded) = (tag, superseded.into());
    }
    /// Notes how many bytes of the page of a host write are not the host's; of a whole page there are none.
    #[inline]
    pub fn fill(&mut self, slot: Slot, bytes: u32) {
        if bytes > 0 {
            self.table.fill(slot, bytes);
        }
    }
    /// Bytes of the page that are not the host's, of a write of a part of it.
    pub fn fill_of(&self, slot: Slot) -> u32 {
        let fill = self.table.fills.get(slot as usize);
        fill.copied().unwrap_or_default()
    }

    /// All transactions that are not over, and their dies; for recounts.
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

    /// Whether every command is one page or block, taken in the order of its die's queue and carried
    /// out without a break, as [`Plan::has_basic_dies`] says: what is compiled for [`Basic`] serves them.
    #[inline]
    pub fn is_basic(&self) -> bool {
        self.is_basic
    }

    /// What each die has been used for.
    pub fn usage(&self) -> impl Iterator<Item = Usage> + '_ {
        self.channels.dies().map(|state| state.usage)
    }

    /// How long each die has been occupied since the power came.
    pub fn dies_busy(&self) -> impl Iterator<Item = BusyTime> + '_ {
        self.channels.dies().map(DieState::busy)
    }

    /// How long each bus has been held since the power came.
    pub fn buses_busy(&self) -> impl Iterator<Item = BusyTime> + '_ {
        self.channels.buses_busy()
    }

    /// What is committed, by die.
    #[inline]
    pub fn loads(&self) -> &[Load] {
        &self.loads
    }

    /// The die whose load has changed with the last hold of a bus, if one has.
    #[inline]
    pub fn load_changed(&mut self) -> Option<Die> {
        self.load_changed.take()
    }

    /// Programs and erases that the arrays are at, be it that they are laid suspended: what they leave
    /// if the power fails cannot be read.
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
