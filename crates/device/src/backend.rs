//! The flash back end: a queue for each die, in front of the channels.
//!
//! A die executes one command at a time, in the order of its queue; a command is one operation, or
//! several of the same kind on different planes where the composition says so. The command holds its
//! die from its first cycle to its last, and the bus of its channel as its chain says
//! (`wordline_nand::channel`). Reads of the host may pass a program or an erase that is suspended
//! for them.

mod die;
mod join;
mod listener;
mod suspension;
mod table;
mod transaction;

use std::collections::VecDeque;

pub use die::Usage;
use die::{DieCommand, DieState, GcClock};
use listener::ChannelListener;
use table::TransactionTable;
use transaction::{NONE, Wait};
pub(crate) use transaction::{Order, Purpose, Slot, Transaction};
use wordline_kernel::{BusyTime, Probe, Stream, Time};
use wordline_nand::channel::Readied;
use wordline_nand::{
    Array, Basic, Channels, Die, Features, Full, Layout, Operation, PlaneRule, Ppn,
    Transaction as Command,
};

use crate::compose::{Compose, Composition};
use crate::event::{Context, Kind};
use crate::observation::{Observation, PageParts};
use crate::plan::Plan;
use crate::schedule::Load;

/// Planes that one command takes at most.
const MOST_PLANES: usize = 64;

/// Dies, buses and the transactions between them.
#[derive(Clone, Debug)]
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
    draws: Stream,
    /// What the command that has finished last went through, if it was not for collection.
    finished: PageParts,
    /// Idle dies with something in their queues, which begin at this instant; each once.
    to_begin: Vec<Die>,
    /// What is committed, by die.
    loads: Vec<Load>,
    /// Whether there is a scheduler, who looks at dies whose load has changed.
    is_scheduled: bool,
    is_basic: bool,
    /// A die whose load has changed with the last hold of a bus.
    load_changed: Option<Die>,
}

/// An array operation that has taken effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArrayDone {
    /// The first transaction of the command; see [`BackEnd::joined`].
    pub head: Slot,
    /// Read, program or erase.
    pub operation: Operation,
}

impl BackEnd {
    pub fn new(plan: &Plan) -> Self {
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
            draws: Stream::new(part.seed, "nand.array"),
            finished: PageParts::NONE,
            to_begin: Vec::new(),
            loads: vec![Load::default(); layout.dies as usize],
            is_scheduled: plan.is_scheduled(),
            is_basic: plan.has_basic_dies(),
            load_changed: None,
        }
    }

    /// The same back end once the power has failed: nothing is queued or under way.
    pub fn after(before: &Self, plan: &Plan) -> Self {
        let mut back_end = Self::new(plan);
        back_end.draws = before.draws.clone();
        for (state, before) in back_end.channels.dies_mut().zip(before.channels.dies()) {
            state.usage = before.usage;
        }
        back_end
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
        let mut parts = self.finished;
        parts.gc += transaction.wait.gc;
        parts.die_wait += transaction.wait.time - transaction.wait.gc;
        if transaction.is_late {
            parts.add(&self.table.earlier[slot as usize]);
        }
        parts
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

    /// All transactions that are not over, and their dies; for recounts.
    pub fn in_flight(&self) -> impl Iterator<Item = (Die, &Transaction)> {
        let mut live = vec![true; self.table.transactions.len()];
        for slot in &self.table.vacant {
            live[*slot as usize] = false;
        }
        let all = self.table.transactions.iter().zip(live);
        all.filter_map(|(transaction, live)| live.then_some((transaction.die, transaction)))
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

    /// Takes an operation on without a place in the queue of its die; [`BackEnd::commit`] gives it one.
    pub fn admit(&mut self, now: Time, order: &Order) -> Slot {
        let die = self.layout.die_of_page(order.place);
        let gc_before = self.channels.of(die).gc.read(now);
        let slot = self.table.admit(now, die, gc_before, order);
        self.table.number(slot);
        slot
    }

    /// Puts an operation at the end of the queue of its die.
    #[inline(always)]
    pub fn enqueue(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        die: Die,
        order: &Order,
    ) -> Slot {
        let now = cx.now;
        let state = self.channels.of_mut(die);
        let slot = self.table.admit(now, die, state.gc.read(now), order);
        *self.loads[die.index()].of(order.purpose.operation()) += u32::from(!order.purpose.is_gc());
        if !self.is_basic {
            self.table.number(slot);
            self.line_up(cx, die, slot, order.purpose);
        } else if state.command.head != NONE {
            self.table.append::<Basic>(state, slot);
        } else {
            self.start::<Basic>(cx, die, slot, 1);
        }
        slot
    }

    /// Puts an admitted operation at the end of its die's queue; until then it has waited for the
    /// scheduler.
    pub fn commit(&mut self, cx: &mut Context<'_, impl Probe<Observation>>, slot: Slot) {
        let transaction = &mut self.table.transactions[slot as usize];
        let (die, purpose) = (transaction.die, transaction.purpose);
        let clock = self.channels.of(die).gc.read(cx.now);
        let Wait { time, gc } = transaction.wait;
        transaction.wait = Wait {
            time: cx.now,
            gc: clock,
        };
        if time < cx.now {
            let parts = PageParts {
                gc: clock - gc,
                queue: cx.now - time - (clock - gc),
                ..PageParts::NONE
            };
            self.table.add_earlier(slot, &parts);
        }
        *self.loads[die.index()].of(purpose.operation()) += u32::from(!purpose.is_gc());
        self.line_up(cx, die, slot, purpose);
    }

    /// An idle die begins at once, or with [`BackEnd::begin`] if it may take several operations
    /// together, or if a scheduler may yet commit to other dies what came before. Not for basic dies.
    fn line_up(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        die: Die,
        slot: Slot,
        purpose: Purpose,
    ) {
        let state = self.channels.of_mut(die);
        let idle = state.command.head == NONE;
        if idle && self.planes == 1 && !self.is_scheduled {
            self.start::<Full>(cx, die, slot, 1);
            return;
        }
        let is_first = state.first == NONE;
        self.table.append::<Full>(state, slot);
        if self.suspends && purpose.is_urgent() {
            state.reads.push_back(slot);
        }
        if idle && is_first {
            self.begin_later(cx, die);
        }
    }

    /// An idle die begins when all that is enqueued at this instant has been.
    #[cold]
    fn begin_later(&mut self, cx: &mut Context<'_, impl Probe<Observation>>, die: Die) {
        if self.to_begin.is_empty() {
            cx.schedule(cx.now, Kind::Begin);
        }
        self.to_begin.push(die);
        self.loads[die.index()].array_begun = false;
    }

    /// A die whose command is over goes on with [`BackEnd::begin`]: others that begin at this instant
    /// may have something to do that came before.
    fn begin_with_others(&mut self, cx: &mut Context<'_, impl Probe<Observation>>, die: Die) {
        if self.channels.of(die).first != NONE {
            self.begin_later(cx, die);
        }
    }

    /// Idle dies begin with what has been enqueued at this instant, and so ask for their buses: in the
    /// order in which the operations that their commands begin with have come.
    pub fn begin(&mut self, cx: &mut Context<'_, impl Probe<Observation>>, array: &Array) {
        let mut to_begin = std::mem::take(&mut self.to_begin);
        to_begin.sort_unstable_by_key(|die| {
            let head = self.head(cx.now, *die, array);
            head.map_or(0, |head| self.get(head).number)
        });
        for die in to_begin.drain(..) {
            debug_assert!(self.channels.is_free(die), "idle until now");
            self.start_next::<Full>(cx, die, array);
        }
        self.to_begin = to_begin;
    }

    /// What an idle die begins with: the first of its queue. Where operations can be suspended for
    /// reads, reads of the host go first: what they would suspend at once need not begin.
    fn head(&self, now: Time, die: Die, array: &Array) -> Option<Slot> {
        let first = self.channels.of(die).first;
        if first == NONE {
            return None;
        }
        if self.suspends && now.since(self.get(first).wait.time) < self.longest {
            return Some(self.waiting_read(die, array).unwrap_or(first));
        }
        Some(first)
    }

    /// Starts what an idle die begins with, if its queue is not empty.
    #[inline(always)]
    fn start_next<F: Features>(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        die: Die,
        array: &Array,
    ) {
        let state = self.channels.of_mut(die);
        if state.first == NONE {
            return;
        }
        if !(F::MULTI_PLANE && self.planes > 1 || F::SUSPEND && self.suspends) {
            let head = self.table.pop_front::<F>(state);
            self.start::<F>(cx, die, head, 1);
            return;
        }
        if let Some(head) = self.head(cx.now, die, array) {
            self.begin_with(cx, die, head, array);
        }
    }

    /// Gives the idle die to a transaction of its queue and those that go with it.
    #[inline(never)]
    fn begin_with(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        die: Die,
        head: Slot,
        array: &Array,
    ) {
        self.table.unlink(self.channels.of_mut(die), head);
        let pages = if self.planes > 1 {
            self.join(die, head, array)
        } else {
            1
        };
        self.start::<Full>(cx, die, head, pages);
    }

    /// Gives the die, which is idle, to a command.
    #[inline(never)]
    fn start<F: Features>(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        die: Die,
        head: Slot,
        pages: u32,
    ) {
        let now = cx.now;
        let interleaved = F::MULTI_PLANE && self.dies_per_package > 1 && self.interleave(die);
        if F::SCHEDULE && self.is_scheduled {
            self.loads[die.index()].array_begun = false;
        }
        let mut at = self.channels.at(die);
        let state = at.own();
        let transaction = &mut self.table.transactions[head as usize];
        let of_gc = state.gc.read(now);
        transaction.wait.end(now, of_gc);
        let (operation, gc, place) = (transaction.operation, transaction.gc, transaction.place);
        state.gc.start(now, gc);
        state.command.begin(now, head, operation, gc, pages);
        state.command.interleaved = interleaved;
        if !F::MULTI_PLANE || (pages == 1 && operation != Operation::Move) {
            let offset = self.layout.page_in_block(place);
            let time = at.chains().array_time(operation, offset, &mut self.draws);
            let none = &mut ();
            let mut listener = ChannelListener::<_, F>::new(&self.table, cx.queue, none);
            at.start_legacy(now, operation, time, &mut listener);
        } else {
            self.start_together(cx, die, head, of_gc);
        }
    }

    /// A die becomes occupied: the commands of other dies of its package are interleaved with its own,
    /// if there are any.
    #[cold]
    fn interleave(&mut self, die: Die) -> bool {
        let first = die.0 - die.0 % self.dies_per_package;
        let mut interleaved = false;
        for other in (first..first + self.dies_per_package).filter(|other| *other != die.0) {
            let command = &mut self.channels.of_mut(Die(other)).command;
            if command.head != NONE {
                command.interleaved = true;
                interleaved = true;
            }
        }
        interleaved
    }

    /// Starts the command of a die that is not one of one page or block. Its transactions but the
    /// first have waited until now, for `of_gc` in all behind collection.
    #[cold]
    #[inline(never)]
    fn start_together(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        die: Die,
        head: Slot,
        of_gc: Time,
    ) {
        let (draws, layout) = (&mut self.draws, &self.layout);
        let DieCommand {
            operation, pages, ..
        } = self.channels.of(die).command;
        let (mut places, mut targets) = ([Ppn(0); MOST_PLANES], [Ppn(0); MOST_PLANES]);
        let (mut count, mut slot) = (0, head);
        while slot != NONE {
            let transaction = &mut self.table.transactions[slot as usize];
            if slot != head {
                transaction.wait.end(cx.now, of_gc);
            }
            places[count] = transaction.place;
            targets[count] = transaction.target;
            count += 1;
            slot = transaction.next;
        }
        let moved = if operation == Operation::Move {
            count
        } else {
            0
        };
        let command = Command {
            operation,
            pages: &places[..count],
            targets: &targets[..moved],
            planes: pages,
        };
        debug_assert_eq!(
            command.check(layout, self.plane_rule),
            Ok(()),
            "commands obey the rules of the part"
        );
        self.channels.load(die, |chains, steps| {
            chains.build(layout, &command, draws, steps);
        });
        let none = &mut ();
        let mut listener = ChannelListener::<_, Full>::new(&self.table, cx.queue, none);
        self.channels.start(cx.now, die, &mut listener);
    }

    /// A hold of a bus is over. Returns the first transaction of a command that is finished; its die
    /// goes on with the next.
    #[inline]
    pub fn bus_done<F: Features>(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        channel: u32,
        array: &Array,
    ) -> Option<Slot> {
        let now = cx.now;
        let mut listener = ChannelListener::<_, F>::new(&self.table, cx.queue, cx.probe);
        let released = self.channels.bus_done(now, channel, &mut listener);
        let die = released.die;
        if F::SCHEDULE && self.is_scheduled && (released.began || released.ended) {
            self.loads[die.index()].array_begun = true;
            self.load_changed = Some(die);
        }
        if released.ended {
            let head = self.finish::<F>(cx, die);
            if F::SUSPEND && self.suspends && self.channels.of(die).suspended.is_some() {
                self.serve_reads(cx, die, array);
            } else if F::SCHEDULE && (self.is_scheduled || !self.to_begin.is_empty()) {
                self.begin_with_others(cx, die);
            } else {
                self.start_next::<F>(cx, die, array);
            }
            return Some(head);
        }
        if F::SUSPEND && self.suspends && released.began {
            self.suspend_for_waiting(cx, die, array);
        }
        None
    }

    /// The command of a die is over: its time is that of all its transactions.
    #[inline]
    fn finish<F: Features>(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        die: Die,
    ) -> Slot {
        let now = cx.now;
        let state = self.channels.of_mut(die);
        let command = &mut state.command;
        if F::SUSPEND && self.suspends {
            command.parts.die_wait = (now - command.began).since(command.parts.total());
        }
        let (head, pages) = (command.head, command.pages);
        if !command.gc {
            self.finished = command.parts;
            *self.loads[die.index()].of(command.operation) -= pages;
        }
        leave(cx, die, state, pages);
        head
    }

    /// A busy time of a die is over: it wants the bus, or has laid its command suspended. Returns the
    /// array operation that is done.
    #[inline]
    pub fn ready<F: Features>(
        &mut self,
        cx: &mut Context<'_, impl Probe<Observation>>,
        die: Die,
        array: &Array,
    ) -> Option<ArrayDone> {
        let now = cx.now;
        let mut listener = ChannelListener::<_, F>::new(&self.table, cx.queue, cx.probe);
        match self.channels.ready(now, die, &mut listener) {
            Readied::Done(worked) => {
                let operation = worked?;
                let command = &mut self.channels.of_mut(die).command;
                command.under_way = false;
                let programs = operation == Operation::Program;
                self.table.observe_array(now, command, programs, cx.probe);
                Some(ArrayDone {
                    head: command.head,
                    operation,
                })
            }
            Readied::Suspended => {
                self.channels.of_mut(die).command.suspended_at = now;
                self.set_suspended(cx, die);
                self.serve_reads(cx, die, array);
                None
            }
            Readied::Stale => None,
        }
    }
}

/// A die is not occupied by its command any more: for good, or while it lies suspended (`pages` is 0
/// then).
#[inline]
fn leave(
    cx: &mut Context<'_, impl Probe<Observation>>,
    die: Die,
    state: &mut DieState,
    pages: u32,
) {
    state.gc.stop(cx.now);
    let command = &mut state.command;
    command.head = NONE;
    state.occupied += cx.now - command.since;
    cx.observe(Observation::Die {
        die,
        from: command.since,
        operation: command.operation,
        pages,
        interleaved: command.interleaved,
        gc: command.gc,
    });
}
