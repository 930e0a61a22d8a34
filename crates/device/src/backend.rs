//! The flash back end: a queue for each die, in front of the channels.
//!
//! A die executes one command at a time, in the order of its queue; a command is one operation, or
//! several of the same kind on different planes where the composition says so. The command holds its
//! die from its first cycle to its last, and the bus of its channel as its chain says
//! (`wordline_nand::channel`). Reads of the host may pass a program or an erase that is suspended
//! for them.

use std::collections::VecDeque;

use wordline_kernel::{EventQueue, Probe, Stream, Time};
use wordline_nand::channel::{Listen, Readied};
use wordline_nand::{
    Array, Channels, Confirm, Die, Layout, Operation, PlaneRule, Ppn, Stage, Step,
    Transaction as Command, Work,
};

use crate::compose::{Compose, Composition, Waiting};
use crate::event::Event;
use crate::observation::{Observation, Parts};
use crate::plan::Plan;

/// A place in the table of transactions.
pub(crate) type Slot = u32;
const NONE: Slot = Slot::MAX;

/// Planes that one command takes at most.
const MOST_PLANES: usize = 64;
/// Transactions of a queue that are looked at for one command.
const MOST_IN_LINE: usize = 64;

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
    /// The move of a page that is collected, inside its plane.
    Move,
    /// The erase that ends a collection.
    Erase,
}

impl Purpose {
    pub const fn operation(self) -> Operation {
        match self {
            Self::Read | Self::Merge | Self::MoveRead => Operation::Read,
            Self::Write | Self::MoveProgram => Operation::Program,
            Self::Move => Operation::Move,
            Self::Erase => Operation::Erase,
        }
    }
    pub const fn is_gc(self) -> bool {
        matches!(
            self,
            Self::MoveRead | Self::MoveProgram | Self::Move | Self::Erase
        )
    }
    /// Whether a host waits for the data, so that the operation is worth suspending another for.
    const fn is_urgent(self) -> bool {
        matches!(self, Self::Read | Self::Merge)
    }
}

/// One flash operation on its way through the back end.
#[derive(Clone, Debug)]
pub(crate) struct Transaction {
    pub purpose: Purpose,
    die: Die,
    /// The next of its queue, or of its command.
    next: Slot,
    /// The one before it in its queue.
    previous: Slot,
    /// The page; for an erase the first of its block.
    pub place: Ppn,
    /// Where a move goes; otherwise the same page.
    pub target: Ppn,
    /// The request (host) or the plane (collection) that waits for it.
    pub owner: u32,
    /// For a merge: its place in the table of fragments. For a host page: the logical page.
    pub tag: u32,
    pub parts: Parts,
    /// Since when it waits for its die.
    since: Time,
    /// Collection's share of the die at that time.
    gc_before: Time,
}

/// An operation for [`BackEnd::enqueue`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    pub purpose: Purpose,
    pub place: Ppn,
    pub target: Ppn,
    pub owner: u32,
    pub tag: u32,
    /// What the request has been through since admission.
    pub parts: Parts,
}

impl Order {
    /// An operation in one place, for a request that has just been admitted.
    #[inline]
    pub fn new(purpose: Purpose, place: Ppn, owner: u32, tag: u32) -> Self {
        Self {
            purpose,
            place,
            target: place,
            owner,
            tag,
            parts: Parts::NONE,
        }
    }
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

/// A command that a die is at.
#[derive(Clone, Copy, Debug)]
struct Job {
    /// Its first transaction; the others follow by `next`.
    head: Slot,
    operation: Operation,
    gc: bool,
    pages: u32,
    /// Whether another die of the package was occupied at the same time.
    interleaved: bool,
    began: Time,
    /// Since when the die has been occupied without a break.
    since: Time,
    /// Since when the die has been busy.
    busy_since: Time,
    /// When it was laid aside last.
    aside_since: Time,
    /// Where its time went.
    parts: Parts,
    /// Collection's share of the bus when the die asked for it.
    bus_gc: Time,
}

const IDLE: Job = Job {
    head: NONE,
    operation: Operation::Read,
    gc: false,
    pages: 0,
    interleaved: false,
    began: Time::ZERO,
    since: Time::ZERO,
    busy_since: Time::ZERO,
    aside_since: Time::ZERO,
    parts: Parts::NONE,
    bus_gc: Time::ZERO,
};

#[derive(Clone, Debug)]
struct DieState {
    job: Job,
    /// A command laid aside for reads.
    aside: Option<Box<Job>>,
    first: Slot,
    last: Slot,
    /// Reads of the host in the queue, in order; kept if they can pass other operations.
    reads: VecDeque<Slot>,
    gc: GcClock,
    usage: Usage,
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

/// Everything beside the channels.
#[derive(Clone, Debug)]
struct Book {
    dies: Vec<DieState>,
    /// By channel: the time that its bus was held for collection.
    buses: Vec<GcClock>,
    transactions: Vec<Transaction>,
    vacant: Vec<Slot>,
}

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
    channels: Channels,
    book: Book,
    draws: Stream,
    /// Idle dies that have been given transactions.
    touched: Vec<Die>,
}

/// The book, open for what the channels have to say.
struct Ear<'a, P> {
    book: &'a mut Book,
    queue: &'a mut EventQueue<Event>,
    probe: &'a mut P,
}

impl<P: Probe<Observation>> Listen for Ear<'_, P> {
    #[inline]
    fn schedule(&mut self, at: Time, event: wordline_nand::Event) {
        self.queue.schedule(at, Event::Flash(event));
    }
    #[inline]
    fn asks(&mut self, now: Time, channel: u32, die: Die) {
        self.book.dies[die.index()].job.bus_gc = self.book.buses[channel as usize].read(now);
    }
    #[inline]
    fn granted(&mut self, now: Time, channel: u32, die: Die, since: Time, hold: Time) {
        let bus = &mut self.book.buses[channel as usize];
        let state = &mut self.book.dies[die.index()];
        let job = &mut state.job;
        let gc = bus.read(now) - job.bus_gc;
        job.parts.gc += gc;
        job.parts.bus_wait += now - since - gc;
        job.parts.bus += hold;
        state.usage.bus_wait += now - since;
        state.usage.bus += hold;
        bus.start(now, job.gc);
    }
    #[inline]
    fn released(&mut self, now: Time, channel: u32, die: Die, _step: &Step, from: Time) {
        self.book.buses[channel as usize].stop(now);
        let Job { operation, gc, .. } = self.book.dies[die.index()].job;
        self.probe.observe(
            now,
            Observation::Bus {
                channel,
                from,
                die,
                operation,
                gc,
            },
        );
    }
    #[inline]
    fn allows(&mut self, _now: Time, _die: Die, _confirm: Confirm) -> bool {
        true
    }
    #[inline]
    fn busy(&mut self, now: Time, die: Die, confirm: Confirm, work: Work, ready: Time) {
        let state = &mut self.book.dies[die.index()];
        state.job.busy_since = now;
        state.job.parts.cell += ready - now;
        state.usage.cell += ready - now;
        if let Some(kind) = kind(confirm) {
            state.usage.array[kind] += work.time() * u64::from(state.job.pages);
        }
    }
    fn suspended(&mut self, now: Time, die: Die, confirm: Confirm, remaining: Time, latency: Time) {
        let state = &mut self.book.dies[die.index()];
        state.job.parts.cell -= remaining;
        state.usage.cell += latency;
        state.usage.cell -= remaining;
        if let Some(kind) = kind(confirm) {
            let used = &mut state.usage.array[kind];
            *used += latency * u64::from(state.job.pages);
            *used -= remaining * u64::from(state.job.pages);
        }
        let Job { busy_since, .. } = state.job;
        self.book
            .observe_array(now, die, confirm, busy_since, self.probe);
    }
    fn interrupted(&mut self, now: Time, channel: u32, die: Die, from: Time) {
        let state = &mut self.book.dies[die.index()];
        state.usage.bus += now - from;
        let Job { operation, gc, .. } = state.job;
        self.probe.observe(
            now,
            Observation::Bus {
                channel,
                from,
                die,
                operation,
                gc,
            },
        );
    }
}

/// Reads, programs, erases: the place in a [`Usage`].
#[inline]
fn kind(confirm: Confirm) -> Option<usize> {
    Stage::of_array(confirm).map(|stage| match stage {
        Stage::Ton => 0,
        Stage::Tin => 1,
        _ => 2,
    })
}

impl Book {
    #[inline]
    fn admit(&mut self, now: Time, die: Die, order: &Order) -> Slot {
        let Order {
            purpose,
            place,
            target,
            owner,
            tag,
            parts,
        } = *order;
        let transaction = Transaction {
            purpose,
            die,
            next: NONE,
            previous: NONE,
            place,
            target,
            owner,
            tag,
            parts,
            since: now,
            gc_before: self.dies[die.index()].gc.read(now),
        };
        if let Some(slot) = self.vacant.pop() {
            self.transactions[slot as usize] = transaction;
            return slot;
        }
        self.transactions.push(transaction);
        self.transactions.len() as Slot - 1
    }

    #[inline]
    fn next(&self, slot: Slot) -> Slot {
        self.transactions[slot as usize].next
    }

    /// Puts a transaction at the end of its die's queue.
    #[inline]
    fn append(&mut self, die: Die, slot: Slot) {
        let state = &mut self.dies[die.index()];
        if state.first == NONE {
            state.first = slot;
        } else {
            self.transactions[state.last as usize].next = slot;
            self.transactions[slot as usize].previous = state.last;
        }
        state.last = slot;
    }

    /// Takes a transaction out of its die's queue.
    #[inline]
    fn unlink(&mut self, die: Die, slot: Slot) {
        let transaction = &mut self.transactions[slot as usize];
        let (previous, next) = (transaction.previous, transaction.next);
        transaction.next = NONE;
        let state = &mut self.dies[die.index()];
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
        if !state.reads.is_empty() {
            state.reads.retain(|read| *read != slot);
        }
    }

    /// Tells the probe that the array has worked for the die's command.
    fn observe_array(
        &self,
        now: Time,
        die: Die,
        confirm: Confirm,
        from: Time,
        probe: &mut impl Probe<Observation>,
    ) {
        let Job {
            head,
            operation,
            gc,
            ..
        } = self.dies[die.index()].job;
        let programs = matches!(confirm, Confirm::Program(_));
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

/// An array operation that has taken effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Worked {
    /// The first transaction of the command; see [`BackEnd::joined`].
    pub head: Slot,
    /// Read, program or erase.
    pub operation: Operation,
}

impl BackEnd {
    pub fn new(plan: &Plan) -> Self {
        let state = DieState {
            job: IDLE,
            aside: None,
            first: NONE,
            last: NONE,
            reads: VecDeque::new(),
            gc: GcClock::default(),
            usage: Usage::default(),
        };
        let part = &plan.part;
        let layout = part.layout;
        let channels = layout.dies.div_ceil(plan.dies_per_channel) as usize;
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
            ),
            book: Book {
                dies: vec![state; layout.dies as usize],
                buses: vec![GcClock::default(); channels],
                transactions: Vec::new(),
                vacant: Vec::new(),
            },
            draws: Stream::new(part.seed, "nand.array"),
            touched: Vec::new(),
        }
    }

    #[inline]
    pub fn get(&self, slot: Slot) -> &Transaction {
        &self.book.transactions[slot as usize]
    }
    /// The next transaction of the same command.
    #[inline]
    pub fn joined(&self, slot: Slot) -> Option<Slot> {
        let next = self.book.next(slot);
        (next != NONE).then_some(next)
    }
    /// Forgets a finished transaction.
    #[inline]
    pub fn release(&mut self, slot: Slot) {
        self.book.vacant.push(slot);
    }
    /// What each die has been used for.
    pub fn usage(&self) -> impl Iterator<Item = Usage> + '_ {
        self.book.dies.iter().map(|state| state.usage)
    }

    /// Puts an operation at the end of its die's queue. An idle die begins at once, or with
    /// [`BackEnd::begin`] if it may take several operations together.
    #[inline]
    pub fn enqueue(&mut self, now: Time, order: &Order, queue: &mut EventQueue<Event>) -> Slot {
        let die = self.layout.die_of_page(order.place);
        let slot = self.book.admit(now, die, order);
        let idle = self.book.dies[die.index()].job.head == NONE;
        if idle && self.planes == 1 {
            self.start(now, die, slot, 1, queue);
            return slot;
        }
        self.book.append(die, slot);
        if self.suspends && order.purpose.is_urgent() {
            self.book.dies[die.index()].reads.push_back(slot);
        }
        if idle {
            if self.touched.is_empty() {
                queue.schedule(now, Event::Begin);
            }
            self.touched.push(die);
        }
        slot
    }

    /// Idle dies begin with what has been enqueued at this instant.
    pub fn begin(&mut self, now: Time, array: &Array, queue: &mut EventQueue<Event>) {
        while let Some(die) = self.touched.pop() {
            if self.book.dies[die.index()].job.head == NONE && self.channels.is_free(die) {
                self.start_next(now, die, array, queue);
            }
        }
    }

    /// A read of the host has been enqueued: what its die is at may be suspended for it, or wait
    /// longer until it is resumed.
    #[inline]
    pub fn hurry(
        &mut self,
        now: Time,
        slot: Slot,
        array: &Array,
        queue: &mut EventQueue<Event>,
        probe: &mut impl Probe<Observation>,
    ) {
        if self.suspends {
            self.suspend_for(now, slot, array, queue, probe);
        }
    }

    #[cold]
    fn suspend_for(
        &mut self,
        now: Time,
        slot: Slot,
        array: &Array,
        queue: &mut EventQueue<Event>,
        probe: &mut impl Probe<Observation>,
    ) {
        let Transaction { die, place, .. } = *self.get(slot);
        let Job {
            head, aside_since, ..
        } = self.book.dies[die.index()].job;
        if array.read(place).is_err() || head == NONE {
            return;
        }
        if now.since(aside_since) < self.longest && self.channels.withdraw_resume(die) {
            self.lay_aside(now, die, probe);
            self.serve_reads(now, die, array, queue);
            return;
        }
        let mut ear = Ear {
            book: &mut self.book,
            queue,
            probe: &mut (),
        };
        self.channels.suspend(now, die, &mut ear);
    }

    /// Starts the first transaction of an idle die's queue, if there is one. Where operations can be
    /// suspended for reads, reads of the host go first: what they would suspend at once need not
    /// begin.
    #[inline]
    fn start_next(&mut self, now: Time, die: Die, array: &Array, queue: &mut EventQueue<Event>) {
        let mut head = self.book.dies[die.index()].first;
        if head == NONE {
            return;
        }
        if self.suspends && now.since(self.get(head).since) < self.longest {
            head = self.waiting_read(die, array).unwrap_or(head);
        }
        self.begin_with(now, die, head, array, queue);
    }

    /// Gives the idle die to a transaction of its queue and those that go with it.
    #[inline]
    fn begin_with(
        &mut self,
        now: Time,
        die: Die,
        head: Slot,
        array: &Array,
        queue: &mut EventQueue<Event>,
    ) {
        self.book.unlink(die, head);
        let pages = if self.planes > 1 {
            self.join(die, head, array)
        } else {
            1
        };
        self.start(now, die, head, pages, queue);
    }

    /// Gives the die, which is idle, to a command.
    #[inline]
    fn start(
        &mut self,
        now: Time,
        die: Die,
        head: Slot,
        pages: u32,
        queue: &mut EventQueue<Event>,
    ) {
        let Book {
            dies, transactions, ..
        } = &mut self.book;
        let state = &mut dies[die.index()];
        let mut slot = head;
        while slot != NONE {
            let transaction = &mut transactions[slot as usize];
            let gc = state.gc.read(now) - transaction.gc_before;
            transaction.parts.gc += gc;
            transaction.parts.die_wait += now - transaction.since - gc;
            slot = transaction.next;
        }
        let purpose = transactions[head as usize].purpose;
        let (operation, gc) = (purpose.operation(), purpose.is_gc());
        state.gc.start(now, gc);
        state.job = Job {
            head,
            operation,
            gc,
            pages,
            began: now,
            since: now,
            ..IDLE
        };
        if self.dies_per_package > 1 {
            self.interleave(die);
        }
        self.load(die, head, operation, pages);
        let mut ear = Ear {
            book: &mut self.book,
            queue,
            probe: &mut (),
        };
        self.channels.start(now, die, &mut ear);
    }

    /// A die becomes occupied: its command and those of other dies of its package are interleaved.
    fn interleave(&mut self, die: Die) {
        let first = die.0 - die.0 % self.dies_per_package;
        for other in (first..first + self.dies_per_package).filter(|other| *other != die.0) {
            if self.book.dies[other as usize].job.head != NONE {
                self.book.dies[other as usize].job.interleaved = true;
                self.book.dies[die.index()].job.interleaved = true;
            }
        }
    }

    #[inline]
    fn load(&mut self, die: Die, head: Slot, operation: Operation, pages: u32) {
        let (draws, layout) = (&mut self.draws, &self.layout);
        let transaction = &self.book.transactions[head as usize];
        if pages == 1 && operation != Operation::Move {
            let offset = layout.page_in_block(transaction.place);
            self.channels.load(die, |chains, steps| {
                let time = chains.array_time(operation, offset, draws);
                chains.push_legacy(operation, time, steps);
            });
            return;
        }
        let (mut places, mut targets) = ([Ppn(0); MOST_PLANES], [Ppn(0); MOST_PLANES]);
        let (mut count, mut slot) = (0, head);
        while slot != NONE {
            let transaction = &self.book.transactions[slot as usize];
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
    }

    /// Takes what the composition picks out of the queue and links it to `head`. Returns the number
    /// of transactions.
    fn join(&mut self, die: Die, head: Slot, array: &Array) -> u32 {
        let mut slots = [head; MOST_IN_LINE];
        let mut line = [self.waiting(head, head, array); MOST_IN_LINE];
        let (mut length, mut slot) = (1, self.book.dies[die.index()].first);
        while slot != NONE && length < MOST_IN_LINE {
            slots[length] = slot;
            line[length] = self.waiting(head, slot, array);
            length += 1;
            slot = self.book.next(slot);
        }
        self.picked.clear();
        let most = self.planes as usize - 1;
        self.composition
            .pick(&line[..length], most, &mut self.picked);
        let mut next = NONE;
        for &place in self.picked.iter().rev() {
            self.book.unlink(die, slots[place]);
            self.book.transactions[slots[place] as usize].next = next;
            next = slots[place];
        }
        self.book.transactions[head as usize].next = next;
        1 + self.picked.len() as u32
    }

    fn waiting(&self, head: Slot, slot: Slot, array: &Array) -> Waiting {
        let plane = self
            .layout
            .plane_of(self.layout.block_of(self.get(slot).place));
        Waiting {
            plane: plane.0 % self.layout.planes_per_die,
            fits: self.belongs(head, slot) && self.can_begin(slot, array),
        }
    }

    /// Whether nothing that is laid aside has to come before a transaction: a read of a page whose
    /// program is suspended waits for it.
    fn can_begin(&self, slot: Slot, array: &Array) -> bool {
        let Transaction { purpose, place, .. } = self.get(slot);
        !self.suspends || purpose.operation() != Operation::Read || array.read(*place).is_ok()
    }

    /// Whether two transactions of different planes can be one command.
    fn belongs(&self, head: Slot, other: Slot) -> bool {
        let (one, other) = (self.get(head), self.get(other));
        let operation = one.purpose.operation();
        if operation != other.purpose.operation() || one.purpose.is_gc() != other.purpose.is_gc() {
            return false;
        }
        let offsets = |page: Ppn| {
            let block = self.layout.block_of(page);
            let page = if operation == Operation::Erase {
                0
            } else {
                self.layout.page_in_block(page)
            };
            (self.layout.block_in_plane(block), page)
        };
        let allows = |one, other| self.plane_rule.allows(offsets(one), offsets(other));
        allows(one.place, other.place) && allows(one.target, other.target)
    }

    /// A hold of a bus is over. Returns the first transaction of a command that is finished; its die
    /// goes on with the next.
    #[inline]
    pub fn bus_done(
        &mut self,
        now: Time,
        channel: u32,
        array: &Array,
        queue: &mut EventQueue<Event>,
        probe: &mut impl Probe<Observation>,
    ) -> Option<Slot> {
        let mut ear = Ear {
            book: &mut self.book,
            queue,
            probe,
        };
        let released = self.channels.bus_done(now, channel, &mut ear)?;
        let die = released.die;
        if released.ended {
            let head = self.finish(now, die, probe);
            if self.book.dies[die.index()].aside.is_some() {
                self.serve_reads(now, die, array, queue);
            } else {
                self.start_next(now, die, array, queue);
            }
            return Some(head);
        }
        if self.suspends && released.confirm.is_some() {
            self.suspend_for_waiting(now, die, array, queue, probe);
        }
        None
    }

    /// The command of a die is over: its time is that of all its transactions.
    #[inline]
    fn finish(&mut self, now: Time, die: Die, probe: &mut impl Probe<Observation>) -> Slot {
        let Book {
            dies, transactions, ..
        } = &mut self.book;
        let state = &mut dies[die.index()];
        let Job {
            head,
            began,
            mut parts,
            ..
        } = state.job;
        parts.die_wait = (now - began).since(parts.in_device());
        let mut slot = head;
        while slot != NONE {
            let transaction = &mut transactions[slot as usize];
            transaction.parts.add(&parts);
            slot = transaction.next;
        }
        self.leave(now, die, self.book.dies[die.index()].job.pages, probe);
        head
    }

    /// The die is not occupied by its command any more: for good, or while it lies aside (`pages` is
    /// 0 then).
    #[inline]
    fn leave(&mut self, now: Time, die: Die, pages: u32, probe: &mut impl Probe<Observation>) {
        let state = &mut self.book.dies[die.index()];
        state.gc.stop(now);
        let Job {
            operation,
            gc,
            since,
            interleaved,
            ..
        } = state.job;
        state.job.head = NONE;
        probe.observe(
            now,
            Observation::Die {
                die,
                from: since,
                operation,
                pages,
                interleaved,
                gc,
            },
        );
    }

    /// A busy time of a die is over: it wants the bus, or has laid its command aside. Returns the
    /// array operation that is done.
    #[inline]
    pub fn ready(
        &mut self,
        now: Time,
        die: Die,
        array: &Array,
        queue: &mut EventQueue<Event>,
        probe: &mut impl Probe<Observation>,
    ) -> Option<Worked> {
        let mut ear = Ear {
            book: &mut self.book,
            queue,
            probe,
        };
        match self.channels.ready(now, die, &mut ear) {
            Readied::Done(die, confirm) => {
                let operation = match kind(confirm)? {
                    0 => Operation::Read,
                    1 => Operation::Program,
                    _ => Operation::Erase,
                };
                let Job {
                    head, busy_since, ..
                } = self.book.dies[die.index()].job;
                self.book
                    .observe_array(now, die, confirm, busy_since, probe);
                Some(Worked { head, operation })
            }
            Readied::Suspended(die) => {
                self.book.dies[die.index()].job.aside_since = now;
                self.lay_aside(now, die, probe);
                self.serve_reads(now, die, array, queue);
                None
            }
            Readied::Stale => None,
        }
    }

    /// The die's command makes way for reads.
    fn lay_aside(&mut self, now: Time, die: Die, probe: &mut impl Probe<Observation>) {
        let job = self.book.dies[die.index()].job;
        self.leave(now, die, 0, probe);
        self.book.dies[die.index()].aside = Some(Box::new(job));
    }

    /// The first read of the host in a die's queue whose page is programmed. The others wait behind
    /// the programs that they depend on.
    fn waiting_read(&self, die: Die, array: &Array) -> Option<Slot> {
        let mut reads = self.book.dies[die.index()].reads.iter().copied();
        reads.find(|slot| array.read(self.get(*slot).place).is_ok())
    }

    /// The array of a die starts to work while reads of the host wait for it.
    fn suspend_for_waiting(
        &mut self,
        now: Time,
        die: Die,
        array: &Array,
        queue: &mut EventQueue<Event>,
        probe: &mut impl Probe<Observation>,
    ) {
        if let Some(slot) = self.waiting_read(die, array) {
            self.suspend_for(now, slot, array, queue, probe);
        }
    }

    /// With a command laid aside: serves the next read, or goes on with the command.
    fn serve_reads(&mut self, now: Time, die: Die, array: &Array, queue: &mut EventQueue<Event>) {
        let aside = self.book.dies[die.index()].aside.as_ref();
        let waits = aside.map_or(Time::ZERO, |job| now - job.aside_since);
        if waits < self.longest
            && let Some(slot) = self.waiting_read(die, array)
        {
            self.begin_with(now, die, slot, array, queue);
            return;
        }
        let state = &mut self.book.dies[die.index()];
        let Some(job) = state.aside.take() else {
            return;
        };
        state.job = Job { since: now, ..*job };
        state.gc.start(now, job.gc);
        let mut ear = Ear {
            book: &mut self.book,
            queue,
            probe: &mut (),
        };
        self.channels.resume(now, die, &mut ear);
    }
}
