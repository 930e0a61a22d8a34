//! Operations that are put into the queues of their dies, and commands that begin.

use std::mem;

use wordline_kernel::Time;
use wordline_nand::{
    Array, Basic, Chains, Die, Features, Full, Operation, Ppn, Step, Transaction as Command,
};

use super::ahead::Sensing;
use super::die::DieCommand;
use super::listener::ChannelListener;
use super::transaction::NONE;
use super::transaction::{Order, Outcome, PageConditions, Purpose, Queued};
use super::{BackEnd, MAX_PLANES};
use crate::event::{Context, Kind};
use crate::observation::{DeviceProbe, PageParts};
use wordline_io_scheduler::Slot;

impl BackEnd {
    /// Takes an operation on without a place in the queue of its die; [`BackEnd::commit`] gives it one.
    pub fn admit(&mut self, now: Time, order: &Order) -> Slot {
        let die = self.layout.die_of_page(order.place);
        let gc_before = self.channels.of(die).gc.read(now);
        let slot = self.table.admit(now, die, gc_before, order);
        self.table.number(slot);
        self.admitted(slot);
        slot
    }

    /// What is noted of an operation beside, where dies are not basic.
    fn admitted(&mut self, slot: Slot) {
        if self.has_page_conditions {
            self.table.grade(slot, mem::take(&mut self.next_grade));
        }
        if let Some(waiting) = &mut self.waiting {
            let transaction = &self.table.transactions[slot as usize];
            if transaction.purpose.is_scheduled() {
                waiting.comes(transaction.owner);
            }
        }
    }
    /// An operation begins, for which nobody waits any more.
    fn begins(&mut self, slot: Slot) {
        if let Some(waiting) = &mut self.waiting {
            let transaction = &self.table.transactions[slot as usize];
            if transaction.purpose.is_scheduled() {
                waiting.begins(transaction.owner);
            }
        }
    }

    /// Takes back an operation that was admitted and not committed.
    pub fn withdraw(&mut self, slot: Slot) {
        self.begins(slot);
        self.release(slot);
    }

    /// Puts an operation at the end of the queue of its die.
    #[inline(always)]
    pub fn enqueue(&mut self, cx: &mut Context<impl DeviceProbe>, die: Die, order: &Order) -> Slot {
        let now = cx.now;
        let state = self.channels.of_mut(die);
        let slot = self.table.admit(now, die, state.gc.read(now), order);
        *self.loads[die.index()].of(order.purpose.operation()) += u32::from(!order.purpose.is_gc());
        if !self.is_basic {
            self.enqueue_general(cx, die, slot);
        } else if state.command.head != NONE {
            self.table.append::<Basic>(state, slot);
        } else {
            self.start::<Basic>(cx, die, slot, 1);
        }
        slot
    }

    /// Puts an operation at the end of the queue of a die that is not basic.
    #[cold]
    #[inline(never)]
    fn enqueue_general(&mut self, cx: &mut Context<impl DeviceProbe>, die: Die, slot: Slot) {
        self.table.number(slot);
        self.admitted(slot);
        let purpose = self.table.transactions[slot as usize].purpose;
        self.line_up(cx, die, slot, purpose);
    }

    /// Puts an admitted operation at the end of its die's queue; until then it has waited for the
    /// scheduler.
    pub fn commit(&mut self, cx: &mut Context<impl DeviceProbe>, slot: Slot) {
        let transaction = &mut self.table.transactions[slot as usize];
        let (die, purpose) = (transaction.die, transaction.purpose);
        let clock = self.channels.of(die).gc.read(cx.now);
        let Queued { since, gc } = transaction.queued;
        transaction.queued = Queued {
            since: cx.now,
            gc: clock,
        };
        if since < cx.now {
            let parts = PageParts {
                gc: clock - gc,
                queue: cx.now - since - (clock - gc),
                ..PageParts::NONE
            };
            self.table.add_earlier(slot, &parts);
        }
        *self.loads[die.index()].of(purpose.operation()) += u32::from(!purpose.is_gc());
        self.line_up(cx, die, slot, purpose);
    }

    /// An idle die begins at once, or with [`BackEnd::begin`] if it may take several operations
    /// together, or if a scheduler may yet commit to other dies what came before. Not for basic dies.
    pub(super) fn line_up(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        die: Die,
        slot: Slot,
        purpose: Purpose,
    ) {
        let state = self.channels.of_mut(die);
        let idle = state.command.head == NONE;
        if idle && self.planes == 1 && !self.is_scheduled && self.ahead.is_none() {
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
        } else if !idle {
            self.abort_ahead(cx, die);
        }
    }

    /// An idle die begins when all that is enqueued at this instant has been.
    #[cold]
    pub(super) fn begin_later(&mut self, cx: &mut Context<impl DeviceProbe>, die: Die) {
        if self.to_begin.is_empty() {
            cx.schedule(cx.now, Kind::Begin);
        }
        self.to_begin.push(die);
        self.loads[die.index()].array_begun = false;
    }

    /// A die whose command is over goes on with [`BackEnd::begin`]: others that begin at this instant
    /// may have something to do that came before.
    pub(super) fn begin_with_others(&mut self, cx: &mut Context<impl DeviceProbe>, die: Die) {
        if self.channels.of(die).first != NONE {
            self.begin_later(cx, die);
        }
    }

    /// Idle dies begin with what has been enqueued at this instant, and so ask for their buses: in the
    /// order in which the operations that their commands begin with have come.
    pub fn begin(&mut self, cx: &mut Context<impl DeviceProbe>, array: &Array) {
        let mut to_begin = mem::take(&mut self.to_begin);
        to_begin.sort_unstable_by_key(|die| {
            let head = self.head(cx.now, *die, array);
            head.map_or(0, |head| self.get(head).number)
        });
        for die in to_begin.drain(..) {
            debug_assert!(self.channels.is_free(die), "idle until now");
            self.start_next::<Full>(cx, die, array);
        }
        self.to_begin = to_begin;
        self.run_ahead(cx, array);
    }

    /// What an idle die begins with: the first of its queue. Where operations can be suspended for
    /// reads, reads of the host go first: what they would suspend at once need not begin.
    pub(super) fn head(&self, now: Time, die: Die, array: &Array) -> Option<Slot> {
        let first = self.channels.of(die).first;
        if first == NONE {
            return None;
        }
        if self.suspends && now.since(self.get(first).queued.since) < self.longest {
            return Some(self.waiting_read(die, array).unwrap_or(first));
        }
        Some(first)
    }

    /// Starts what an idle die begins with, if its queue is not empty.
    #[inline(always)]
    pub(super) fn start_next<F: Features>(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        die: Die,
        array: &Array,
    ) {
        let state = self.channels.of_mut(die);
        if state.first == NONE {
            return;
        }
        let is_simple = self.planes == 1 && self.ahead.is_none();
        if !F::GENERAL || is_simple && !self.suspends {
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
    pub(super) fn begin_with(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        die: Die,
        head: Slot,
        array: &Array,
    ) {
        self.table.unlink(self.channels.of_mut(die), head);
        let pages = if self.planes > 1 && !self.holds(die, head) {
            self.join(die, head, array)
        } else {
            1
        };
        self.look_at_registers(cx, die, (head, pages), array);
        self.start::<Full>(cx, die, head, pages);
    }

    /// Gives the die, which is idle, to a command.
    #[inline(never)]
    pub(super) fn start<F: Features>(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        die: Die,
        head: Slot,
        pages: u32,
    ) {
        let now = cx.now;
        if F::GENERAL {
            self.begins(head);
        }
        let interleaved = F::GENERAL && self.dies_per_package > 1 && self.interleave(die);
        if F::GENERAL && self.is_scheduled {
            self.loads[die.index()].array_begun = false;
        }
        let mut at = self.channels.at(die);
        let state = at.own();
        let transaction = &self.table.transactions[head as usize];
        let gc_before = state.gc.read(now);
        let (operation, gc) = (transaction.operation, transaction.gc);
        let offset = self.layout.page_in_block(transaction.place);
        state.gc.start(now, gc);
        state
            .command
            .begin((now, gc_before), head, operation, gc, pages);
        state.command.interleaved = interleaved;
        let is_legacy = pages == 1 && operation != Operation::Move && !self.has_page_conditions;
        if !F::GENERAL || (is_legacy && self.ahead.is_none()) {
            let time = at.chains().array_time(operation, offset, &mut self.draws);
            let none = &mut ();
            let mut listener = ChannelListener::<_, F>::new(&self.table, cx.queue, none);
            at.start_single(now, operation, time, &mut listener);
        } else {
            self.start_together(cx, die, head);
        }
    }

    /// A die becomes occupied: the commands of other dies of its package are interleaved with its own,
    /// if there are any.
    #[cold]
    pub(super) fn interleave(&mut self, die: Die) -> bool {
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

    /// Starts the command of a die that is not one of one page or block.
    #[cold]
    #[inline(never)]
    pub(super) fn start_together(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        die: Die,
        head: Slot,
    ) {
        let DieCommand {
            operation, pages, ..
        } = self.channels.of(die).command;
        let (mut places, mut targets) = ([Ppn(0); MAX_PLANES], [Ppn(0); MAX_PLANES]);
        let (mut count, mut slot) = (0, head);
        while slot != NONE {
            if slot != head {
                self.begins(slot);
            }
            let transaction = &self.table.transactions[slot as usize];
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
        let retries = self.retries(head, operation);
        let copied = self.copied(head, operation);
        let sensing = self.sensing();
        let (draws, layout) = (&mut self.draws, &self.layout);
        let PageConditions {
            mode,
            single_read,
            single_program,
            ..
        } = self.table.graded(head);
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
            let mut time =
                |page| chains.array_time(Operation::Read, layout.page_in_block(page), draws);
            match sensing {
                Sensing::Plain => chains.build(layout, &command, draws, steps),
                Sensing::Ahead => chains.push_read_ahead(time(command.pages[0]), steps),
                Sensing::Cached(behind) => chains.push_read_cached(behind.map(time), steps),
            }
            chains.price(mode, draws, steps);
            if single_read || single_program {
                chains.price_single_level(single_read, single_program, draws, steps);
            }
            retries.push(chains, steps);
            for copies in &copied {
                chains.push_replacement(*copies, mode, draws, steps);
            }
        });
        let more = copied.iter().map(|copies| 2 * copies + 1);
        self.table.replaces(head, more.sum());
        let none = &mut ();
        let mut listener = ChannelListener::<_, Full>::new(&self.table, cx.queue, none);
        self.channels.start(cx.now, die, &mut listener);
    }
}

/// Further reads of the pages of a command: sensing, with the decoding that has failed before it, and transfer.
#[derive(Default)]
struct Retries(Vec<(Time, Time)>);

impl Retries {
    fn push(&self, chains: &Chains, steps: &mut Vec<Step>) {
        for (sense, transfer) in &self.0 {
            chains.push_retry(*sense, *transfer, steps);
        }
    }
}

impl BackEnd {
    /// Of each program of a command that begins with `head` and fails: the pages before it in its block, which are copied to another.
    fn copied(&self, head: Slot, operation: Operation) -> Vec<u32> {
        let mut copied = Vec::new();
        if !self.has_page_conditions || !matches!(operation, Operation::Program | Operation::Move) {
            return copied;
        }
        let mut slot = head;
        while slot != NONE {
            if let Outcome::Replaced { copies } = self.table.graded(slot).outcome {
                copied.push(copies.into());
            }
            slot = self.get(slot).next;
        }
        copied
    }
    /// Those of a command that begins with `head`, page by page.
    fn retries(&self, head: Slot, operation: Operation) -> Retries {
        let mut retries = Retries::default();
        let Some(code) = &self.code else {
            return retries;
        };
        if operation != Operation::Read {
            return retries;
        }
        let mut slot = head;
        while slot != NONE {
            let PageConditions {
                first,
                retries: more,
                single_read,
                ..
            } = self.table.graded(slot);
            let offset = self.layout.page_in_block(self.get(slot).place);
            let chains = self.channels.chains();
            let single = chains.single_level().filter(|_| single_read);
            let own = single.map_or_else(|| chains.latencies().read(offset), |[read, _]| read);
            for level in usize::from(first)..usize::from(first + more) {
                let (failed, next) = (&code.ladder[level], &code.ladder[level + 1]);
                let sense = next.sense.unwrap_or(own) + failed.decode;
                let transfer = chains.data() * u64::from(next.bits);
                retries.0.push((sense, transfer));
            }
            slot = self.get(slot).next;
        }
        retries
    }
}
