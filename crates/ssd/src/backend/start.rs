//! Queues operations at their dies, and starts commands.

use std::mem;

use wordline_kernel::Time;
use wordline_nand::{
    Array, Basic, Chains, Die, Features, Full, Operation, Ppn, Scheduled, Step,
    Transaction as Command, Uninterrupted,
};

use super::ahead::Sensing;
use super::die::DieCommand;
use super::listener::ChannelListener;
use super::transaction::NONE;
use super::transaction::{Order, Outcome, PageConditions, Purpose, Queued};
use super::{BackEnd, MAX_PLANES};
use crate::event::{Context, Kind};
use crate::observation::{DeviceProbe, PageComponents};
use crate::plan::DieFeatures;
use wordline_io_scheduler::Slot;

impl BackEnd {
    /// Admits an operation without queueing it at its die; [`BackEnd::commit`] queues it.
    pub fn admit(&mut self, now: Time, die: Die, order: &Order) -> Slot {
        let gc_before = self.channels.of(die).gc.read(now);
        let slot = self.table.admit(now, die, gc_before, order);
        self.table.number(slot);
        self.admitted(slot);
        slot
    }

    /// Records the page conditions of an operation, if the device has any. Counts an operation of a
    /// request as waiting, if waiting operations are counted.
    #[inline(always)]
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
    /// Removes an operation that no longer waits from the counts of waiting operations.
    #[inline(always)]
    fn begins(&mut self, slot: Slot) {
        if let Some(waiting) = &mut self.waiting {
            let transaction = &self.table.transactions[slot as usize];
            if transaction.purpose.is_scheduled() {
                waiting.begins(transaction.owner);
            }
        }
    }

    /// Cancels an operation that was admitted but not committed.
    pub fn withdraw(&mut self, slot: Slot) {
        self.begins(slot);
        self.release(slot);
    }

    /// Appends an operation to the queue of its die; an idle die may start it at once.
    #[inline(always)]
    pub fn enqueue(&mut self, cx: &mut Context<impl DeviceProbe>, die: Die, order: &Order) -> Slot {
        let now = cx.now;
        let state = self.channels.of_mut(die);
        let slot = self.table.admit(now, die, state.gc.read(now), order);
        *self.loads[die.index()].of(order.purpose.operation()) += u32::from(!order.purpose.is_gc());
        if self.features != DieFeatures::Basic {
            self.enqueue_general(cx, die, slot);
        } else if state.command.head != NONE {
            self.table.append::<Basic>(state, slot);
        } else {
            self.start::<Basic>(cx, die, slot, 1);
        }
        slot
    }

    /// Appends an operation to the queue of a die whose features are not
    /// [`Basic`](wordline_nand::Basic).
    #[cold]
    #[inline(never)]
    fn enqueue_general(&mut self, cx: &mut Context<impl DeviceProbe>, die: Die, slot: Slot) {
        self.table.number(slot);
        self.admitted(slot);
        let purpose = self.table.transactions[slot as usize].purpose;
        self.line_up(cx, die, slot, purpose);
    }

    /// Appends an admitted operation to its die's queue; until then it has waited for the
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
            let parts = PageComponents {
                gc: clock - gc,
                queue: cx.now - since - (clock - gc),
                ..PageComponents::NONE
            };
            self.table.add_earlier(slot, &parts);
        }
        *self.loads[die.index()].of(purpose.operation()) += u32::from(!purpose.is_gc());
        self.line_up(cx, die, slot, purpose);
    }

    /// Queues an operation at a die whose features are not [`Basic`](wordline_nand::Basic). An idle
    /// die starts it at once. It starts with [`BackEnd::begin`] instead if the die can join
    /// operations or read ahead, or if a scheduler may still commit earlier operations to other
    /// dies.
    #[inline(always)]
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
            if self.features == DieFeatures::Uninterrupted {
                self.start::<Uninterrupted>(cx, die, slot, 1);
            } else {
                self.start::<Full>(cx, die, slot, 1);
            }
            return;
        }
        let is_first = state.first == NONE;
        self.table.append::<Full>(state, slot);
        if self.suspends && purpose.is_urgent() {
            state.reads.push_back(slot);
        }
        if self.planes > 1 {
            self.enter_plane(slot);
        }
        if idle && is_first {
            self.begin_later(cx, die);
        } else if !idle && self.ahead.is_some() {
            self.abort_ahead(cx, die);
        }
    }

    /// Starts an idle die after all operations of this instant are queued.
    #[cold]
    pub(super) fn begin_later(&mut self, cx: &mut Context<impl DeviceProbe>, die: Die) {
        if self.to_begin.is_empty() {
            cx.schedule(cx.now, Kind::Begin);
        }
        self.to_begin.push(die);
        self.loads[die.index()].array_begun = false;
    }

    /// Starts the next command of a die with [`BackEnd::begin`], because other dies that start at
    /// this instant may have earlier operations.
    pub(super) fn begin_with_others(&mut self, cx: &mut Context<impl DeviceProbe>, die: Die) {
        if self.channels.of(die).first != NONE {
            self.begin_later(cx, die);
        }
    }

    /// Starts the idle dies that have queued operations, and then read-ahead on dies that are idle
    /// after a host read. Dies request their buses in the order in which the first operations of
    /// their commands arrived.
    pub fn begin(&mut self, cx: &mut Context<impl DeviceProbe>, array: &Array) {
        let mut to_begin = mem::take(&mut self.to_begin);
        if to_begin.len() > 1 {
            to_begin.sort_unstable_by_key(|die| {
                let head = self.head(cx.now, *die, array);
                head.map_or(0, |head| self.get(head).number)
            });
        }
        for die in to_begin.drain(..) {
            debug_assert!(self.channels.is_free(die), "the die was idle until now");
            match self.features {
                DieFeatures::Basic | DieFeatures::Uninterrupted => {
                    self.start_next::<Uninterrupted>(cx, die, array);
                }
                DieFeatures::Scheduled => self.start_next::<Scheduled>(cx, die, array),
                DieFeatures::Full => self.start_next::<Full>(cx, die, array),
            }
        }
        self.to_begin = to_begin;
        if self.ahead.is_some() {
            self.run_ahead(cx, array);
        }
    }

    /// Returns the operation with which an idle die starts: the first of its queue. If operations
    /// can be suspended for reads, a waiting host read takes precedence, because it would suspend
    /// the operation at once. It no longer does once the first operation has waited for
    /// `nand.suspend.longest_ns`.
    #[inline]
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

    /// Starts the next command of an idle die, if its queue is not empty.
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
        let is_preceded = F::GENERAL && (self.ahead.is_some() || self.suspends);
        if !F::CHAINS || self.planes == 1 && !is_preceded {
            let head = self.table.pop_front::<F>(state);
            self.start::<F>(cx, die, head, 1);
            return;
        }
        let head = if F::GENERAL {
            self.head(cx.now, die, array)
        } else {
            Some(state.first)
        };
        if let Some(head) = head {
            self.begin_with::<F>(cx, die, head, array);
        }
    }

    /// Starts a transaction of the queue, and those that fit its command, on an idle die.
    #[inline(never)]
    pub(super) fn begin_with<F: Features>(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        die: Die,
        head: Slot,
        array: &Array,
    ) {
        let state = self.channels.of_mut(die);
        if F::GENERAL {
            self.table.unlink(state, head);
        } else {
            self.table.pop_front::<F>(state);
        }
        let mut pages = 1;
        if self.planes > 1 {
            self.leave_plane(head);
            if !F::GENERAL || self.ahead.is_none() || !self.holds(die, head) {
                pages = self.join(die, head, array);
            }
        }
        if F::GENERAL && self.ahead.is_some() {
            self.look_at_registers(cx, die, (head, pages), array);
        }
        self.start::<F>(cx, die, head, pages);
    }

    /// Starts a command on an idle die.
    #[inline(never)]
    pub(super) fn start<F: Features>(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        die: Die,
        head: Slot,
        pages: u32,
    ) {
        let now = cx.now;
        if F::CHAINS {
            self.begins(head);
        }
        let interleaved = F::GENERAL && self.dies_per_package > 1 && self.interleave(die);
        if F::SCHEDULED && self.is_scheduled {
            self.loads[die.index()].array_begun = false;
        }
        let is_plain = !F::CHAINS || !self.has_page_conditions || self.is_plain(head);
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
        let is_alone = pages == 1 && operation != Operation::Move;
        let is_ahead = F::GENERAL && self.ahead.is_some();
        if !F::CHAINS || is_alone && !is_ahead && is_plain {
            let time = at.array_time(operation, offset, &mut self.draws);
            let none = &mut ();
            let mut listener = ChannelListener::<_, F>::new(&self.table, cx.queue, none);
            at.start_single(now, operation, time, &mut listener);
        } else {
            self.start_together(cx, die, head);
        }
    }

    /// Returns `true` if the operation of a transaction takes one attempt, and the normal time of
    /// its page.
    #[inline]
    fn is_plain(&self, slot: Slot) -> bool {
        let PageConditions {
            single_read,
            single_program,
            retries,
            outcome,
            ..
        } = self.table.graded(slot);
        let is_normal = !single_read && !single_program && !self.has_modes;
        is_normal && retries == 0 && outcome == Outcome::Done
    }

    /// Marks the commands of the other occupied dies of a die's package as interleaved. Returns
    /// `true` if there are any.
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

    /// Starts a command on several planes, a move, or any command if the device has page conditions
    /// or read-ahead.
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
            "commands satisfy the rules of the part"
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

/// Times of the retries of a command's pages: sensing, including the preceding failed decoding, and
/// transfer.
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
    /// Returns, for each program of a command with first transaction `head` whose block a spare
    /// block replaces, the number of earlier pages of the block, which are copied there.
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
    /// Returns the retries of a command with first transaction `head`, page by page.
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
