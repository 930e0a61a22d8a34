//! Buses and the dies that share them: chains, executed from event to event.
//!
//! A die carries out one chain at a time. It asks for the bus of its channel when it is ready for
//! the next hold; the arbitration says who gets the bus; what the hold's last cycle sets going
//! decides when the die is ready again. A program or an erase can be laid aside for reads where the
//! part allows it.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use wordline_kernel::{BusyTime, Time};

use crate::Die;
use crate::arbitrate::{Arbitrate, Arbitration, Asking};
use crate::chain::{Chains, Step};
use crate::command::Command;
use crate::features::Features;
use crate::registers::{Confirm, Registers, Work};
use crate::suspend::Suspend;
use crate::transaction::Operation;

/// Something that will happen on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A hold of this channel's bus ends.
    BusDone(u32),
    /// This die is ready for its next hold.
    Ready(u32),
}

impl Event {
    /// For the digest of a run.
    #[inline]
    pub const fn code(self) -> u64 {
        match self {
            Self::BusDone(channel) => (channel as u64) << 1,
            Self::Ready(die) => (die as u64) << 1 | 1,
        }
    }
    /// The event that has this code.
    #[inline]
    pub const fn of(code: u64) -> Self {
        let number = (code >> 1) as u32;
        if code & 1 == 0 {
            Self::BusDone(number)
        } else {
            Self::Ready(number)
        }
    }
}

/// Hears what the channels do, and keeps their events. What it has to know of a die or a bus lies with
/// the channels, beside what they know themselves, and is handed to it.
pub trait Listen {
    /// What the owner keeps of a die.
    type OfDie;
    /// What the owner keeps of a bus.
    type OfBus;
    /// What is asked of the dies. With [`Basic`](crate::Basic), all chains are those of one page or block
    /// ([`AtHand::start_legacy`]), none is suspended, and everything is allowed ([`Listen::allows`]).
    type Features: Features;
    /// Hands `event` back at `at`.
    fn schedule(&mut self, at: Time, event: Event);
    /// A die starts to wait for the bus.
    fn waits(&mut self, now: Time, of_bus: &mut Self::OfBus, of_die: &mut Self::OfDie);
    /// A die that has asked since `since` gets the bus for `hold`.
    fn granted(
        &mut self,
        now: Time,
        die: Die,
        of_bus: &mut Self::OfBus,
        of_die: &mut Self::OfDie,
        since: Time,
        hold: Time,
    );
    /// The hold is over.
    fn released(&mut self, now: Time, held: BusHold<'_, Self::OfDie, Self::OfBus>, step: &Step);
    /// Whether the array may do what the hold that ends now asks of it. If not, the chain ends with
    /// a status read.
    fn allows(&mut self, now: Time, die: Die, confirm: Confirm) -> bool;
    /// The die is busy until `ready` with what a step has set going, its array in `work`.
    fn busy(
        &mut self,
        now: Time,
        die: Die,
        of_die: &mut Self::OfDie,
        step: &Step,
        work: Work,
        ready: Time,
    );
    /// The array lays its work aside with `remaining` to do; it stops after `latency`.
    fn suspended(
        &mut self,
        now: Time,
        of_die: &mut Self::OfDie,
        confirm: Confirm,
        remaining: Time,
        latency: Time,
    );
    /// A command that suspends or resumes an operation is through.
    fn interrupted(&mut self, now: Time, held: BusHold<'_, Self::OfDie, Self::OfBus>);
}

/// A hold of a bus that is over.
#[derive(Debug)]
pub struct BusHold<'a, D, B> {
    /// The channel.
    pub channel: u32,
    /// Who held the bus.
    pub die: Die,
    /// When it was granted.
    pub from: Time,
    /// What the owner keeps of the die.
    pub of_die: &'a mut D,
    /// What the owner keeps of the bus.
    pub of_bus: &'a mut B,
}

/// What the end of a hold means to the owner. If it was a suspend command: nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Released {
    /// The die.
    pub die: Die,
    /// Rows that are done and reported.
    pub rows: u8,
    /// Whether the hold has set something going.
    pub began: bool,
    /// Whether the chain is over: the die is free.
    pub ended: bool,
}

/// What the end of a busy time means to the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readied {
    /// The die is ready; the array had this to do, if anything.
    Done(Option<Operation>),
    /// The die has laid its operation aside: it takes other chains until it is resumed.
    Suspended,
    /// The die was suspended meanwhile; the event means nothing.
    Stale,
}

/// What a die is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    /// No chain.
    Free,
    /// In line for the bus, or on it.
    OnBus,
    /// Waits to be ready.
    Busy,
    /// Lays its operation aside.
    Stopping,
}

/// What follows the present step of a chain.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Rest {
    /// How many steps.
    count: u32,
    /// The whole chain; empty if it is that of one page or block.
    steps: Vec<Step>,
    /// Of one page or block: what is done, as its last step says.
    operation: Operation,
}

impl Rest {
    const NONE: Self = Self {
        count: 0,
        steps: Vec::new(),
        operation: Operation::Read,
    };
    /// The next step; there is one.
    #[inline]
    fn next(&mut self, chains: &Chains) -> Step {
        let at = self.steps.len().wrapping_sub(self.count as usize);
        self.count -= 1;
        match self.steps.get(at) {
            Some(step) => *step,
            None => chains.collect(self.operation),
        }
    }
    /// The chain ends with a status read.
    #[cold]
    fn end_early(&mut self) {
        self.steps.clear();
        self.operation = Operation::Program;
        self.count = 1;
    }
}

/// A chain laid aside.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Aside {
    step: Step,
    rest: Rest,
    confirm: Confirm,
    remaining: Time,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Lane<D> {
    /// The owner's.
    own: D,
    channel: u32,
    state: State,
    /// The step on the bus, or whose busy time runs.
    step: Step,
    rest: Rest,
    /// They say when the present busy time ends; events of other ends are stale.
    registers: Registers,
    /// Whether a suspend command is asked for or on its way.
    suspending: bool,
    suspensions: u32,
    aside: Option<Box<Aside>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Bus<B> {
    /// The owner's.
    own: B,
    held: bool,
    /// Who holds the bus, or held it last.
    holder: Die,
    /// Whether the hold suspends or resumes an operation.
    urgent: bool,
    granted: Time,
    /// How long it was held, all holds together that are over.
    busy: Time,
    line: VecDeque<Asking>,
}

/// A die and its bus, looked up once for several steps.
#[derive(Debug)]
pub struct AtHand<'a, D, B> {
    die: Die,
    chains: &'a Chains,
    lane: &'a mut Lane<D>,
    bus: &'a mut Bus<B>,
}

/// Channels with equal numbers of dies, and what their owner keeps of each die and each bus.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Channels<D, B> {
    chains: Chains,
    suspend: Suspend,
    arbitration: Vec<Arbitration>,
    lanes: Vec<Lane<D>>,
    buses: Vec<Bus<B>>,
}

impl<D: Clone, B: Clone> Channels<D, B> {
    /// `dies` idle dies, `dies_per_channel` on each bus; of each die and each bus the owner keeps
    /// what is given.
    pub fn new(
        dies: u32,
        dies_per_channel: u32,
        chains: Chains,
        arbitration: &Arbitration,
        suspend: &Suspend,
        (of_die, of_bus): (D, B),
    ) -> Self {
        let step = chains.last_status();
        let lane = |die: u32| Lane {
            own: of_die.clone(),
            channel: die / dies_per_channel,
            state: State::Free,
            step,
            rest: Rest::NONE,
            registers: Registers::default(),
            suspending: false,
            suspensions: 0,
            aside: None,
        };
        let bus = Bus {
            own: of_bus,
            held: false,
            holder: Die(dies_per_channel - 1),
            urgent: false,
            granted: Time::ZERO,
            busy: Time::ZERO,
            line: VecDeque::new(),
        };
        let channels = dies.div_ceil(dies_per_channel) as usize;
        Self {
            chains,
            suspend: suspend.clone(),
            arbitration: vec![arbitration.clone(); channels],
            lanes: (0..dies).map(lane).collect(),
            buses: vec![bus; channels],
        }
    }

    /// What the owner keeps of all dies, in their order.
    pub fn dies(&self) -> impl Iterator<Item = &D> {
        self.lanes.iter().map(|lane| &lane.own)
    }
    /// The same, to change it.
    pub fn dies_mut(&mut self) -> impl Iterator<Item = &mut D> {
        self.lanes.iter_mut().map(|lane| &mut lane.own)
    }
}

impl<D, B> Channels<D, B> {
    /// What the owner keeps of a die.
    #[inline]
    pub fn of(&self, die: Die) -> &D {
        &self.lanes[die.index()].own
    }
    /// The same, to change it.
    #[inline]
    pub fn of_mut(&mut self, die: Die) -> &mut D {
        &mut self.lanes[die.index()].own
    }
    /// How long each bus has been held, in their order.
    pub fn buses_busy(&self) -> impl Iterator<Item = BusyTime> + '_ {
        let since = |bus: &Bus<B>| bus.held.then_some(bus.granted);
        self.buses
            .iter()
            .map(move |bus| BusyTime::new(bus.busy, since(bus)))
    }
    /// The durations of the part.
    #[inline]
    pub const fn chains(&self) -> &Chains {
        &self.chains
    }
    /// Whether a die has no chain.
    #[inline]
    pub fn is_free(&self, die: Die) -> bool {
        self.lanes[die.index()].state == State::Free
    }
    /// Loads a chain into a free die: `build` appends its steps, at least one.
    pub fn load(&mut self, die: Die, build: impl FnOnce(&Chains, &mut Vec<Step>)) {
        let lane = &mut self.lanes[die.index()];
        let steps = &mut lane.rest.steps;
        steps.clear();
        build(&self.chains, steps);
        lane.rest.count = steps.len() as u32 - 1;
        lane.begin_with(lane.rest.steps[0]);
    }
    /// A die at hand.
    #[inline]
    pub fn at(&mut self, die: Die) -> AtHand<'_, D, B> {
        let lane = &mut self.lanes[die.index()];
        AtHand {
            die,
            chains: &self.chains,
            bus: &mut self.buses[lane.channel as usize],
            lane,
        }
    }

    /// Starts the chain that was loaded into a die: it asks for the bus.
    #[inline]
    pub fn start<L: Listen<OfDie = D, OfBus = B>>(&mut self, now: Time, die: Die, listen: &mut L) {
        let lane = &mut self.lanes[die.index()];
        let bus = &mut self.buses[lane.channel as usize];
        Self::ask(now, die, lane, bus, listen);
    }

    /// A die asks for the bus of its channel.
    #[inline(always)]
    fn ask<L: Listen<OfDie = D, OfBus = B>>(
        now: Time,
        die: Die,
        lane: &mut Lane<D>,
        bus: &mut Bus<B>,
        listen: &mut L,
    ) {
        lane.state = State::OnBus;
        if bus.held {
            listen.waits(now, &mut bus.own, &mut lane.own);
            bus.line_up(now, die, &lane.step);
            return;
        }
        let (channel, hold) = (lane.channel, lane.step.bus);
        listen.granted(now, die, &mut bus.own, &mut lane.own, now, hold);
        Self::hold(now, channel, bus, die, hold, listen);
    }

    /// A die asks to suspend or resume its operation.
    fn ask_urgently<L: Listen<OfDie = D, OfBus = B>>(
        &mut self,
        now: Time,
        channel: u32,
        asking: Asking,
        listen: &mut L,
    ) {
        let bus = &mut self.buses[channel as usize];
        if bus.held {
            bus.line.push_back(asking);
        } else {
            self.grant(now, channel, asking, listen);
        }
    }

    #[inline(always)]
    fn grant<L: Listen<OfDie = D, OfBus = B>>(
        &mut self,
        now: Time,
        channel: u32,
        asking: Asking,
        listen: &mut L,
    ) {
        let Asking {
            die, since, hold, ..
        } = asking;
        let bus = &mut self.buses[channel as usize];
        if !L::Features::SUSPEND || !asking.urgent {
            let of_die = &mut self.lanes[die.index()].own;
            listen.granted(now, die, &mut bus.own, of_die, since, hold);
        }
        Self::hold(now, channel, bus, die, hold, listen);
        if L::Features::SUSPEND {
            bus.urgent = asking.urgent;
        }
    }

    #[inline]
    fn hold<L: Listen<OfDie = D, OfBus = B>>(
        now: Time,
        channel: u32,
        bus: &mut Bus<B>,
        die: Die,
        hold: Time,
        listen: &mut L,
    ) {
        bus.held = true;
        bus.holder = die;
        if L::Features::SUSPEND {
            bus.urgent = false;
        }
        bus.granted = now;
        listen.schedule(now + hold, Event::BusDone(channel));
    }

    /// A hold ends: what it sets going starts, the bus goes to the next die in line, and the die
    /// asks again if its next hold needs no wait. A resume command sets going what was laid aside.
    #[inline]
    pub fn bus_done<L: Listen<OfDie = D, OfBus = B>>(
        &mut self,
        now: Time,
        channel: u32,
        listen: &mut L,
    ) -> Released {
        let bus = &mut self.buses[channel as usize];
        bus.held = false;
        bus.busy += now - bus.granted;
        if L::Features::SUSPEND && bus.urgent {
            return self.interrupted(now, channel, listen);
        }
        let die = bus.holder;
        let lane = &mut self.lanes[die.index()];
        let held = BusHold {
            channel,
            die,
            from: bus.granted,
            of_die: &mut lane.own,
            of_bus: &mut bus.own,
        };
        listen.released(now, held, &lane.step);
        let rows = lane.step.reports;
        let began = Self::release(now, die, lane, &self.chains, listen);
        let ended = !began && (!L::Features::MULTI_PLANE || lane.rest.count == 0);
        if ended {
            lane.state = State::Free;
        }
        if !bus.line.is_empty() {
            self.serve(now, channel, listen);
        }
        if L::Features::MULTI_PLANE && !began && !ended {
            self.go_on(now, die, listen);
        }
        Released {
            die,
            rows,
            began,
            ended,
        }
    }

    /// The next hold of a chain needs no wait: the die asks again.
    #[inline(never)]
    fn go_on<L: Listen<OfDie = D, OfBus = B>>(&mut self, now: Time, die: Die, listen: &mut L) {
        let lane = &mut self.lanes[die.index()];
        lane.step = lane.rest.next(&self.chains);
        let bus = &mut self.buses[lane.channel as usize];
        Self::ask(now, die, lane, bus, listen);
    }

    /// The bus goes to the next of its line, which is not empty.
    fn serve<L: Listen<OfDie = D, OfBus = B>>(&mut self, now: Time, channel: u32, listen: &mut L) {
        let bus = &mut self.buses[channel as usize];
        let next = match self.arbitration[channel as usize].choose(&bus.line, bus.holder) {
            0 => bus.line.pop_front(),
            place => bus.line.remove(place),
        };
        if let Some(asking) = next {
            self.grant(now, channel, asking, listen);
        }
    }

    /// What the end of a hold sets going starts, if it may; true if there is something.
    #[inline]
    fn release<L: Listen<OfDie = D, OfBus = B>>(
        now: Time,
        die: Die,
        lane: &mut Lane<D>,
        chains: &Chains,
        listen: &mut L,
    ) -> bool {
        let Some(confirm) = lane.step.confirm else {
            return false;
        };
        if !listen.allows(now, die, confirm) {
            lane.rest.end_early();
            return false;
        }
        Self::begin(now, die, lane, confirm, chains, listen);
        true
    }

    /// The die gets busy.
    #[inline]
    fn begin<L: Listen<OfDie = D, OfBus = B>>(
        now: Time,
        die: Die,
        lane: &mut Lane<D>,
        confirm: Confirm,
        chains: &Chains,
        listen: &mut L,
    ) {
        let work = lane.registers.confirm(now, confirm, chains.busy());
        let until = lane.registers.ready();
        lane.state = State::Busy;
        listen.busy(now, die, &mut lane.own, &lane.step, work, until);
        listen.schedule(until, Event::Ready(die.0));
    }

    /// A busy time ends: the die asks for its next hold.
    #[inline]
    pub fn ready<L: Listen<OfDie = D, OfBus = B>>(
        &mut self,
        now: Time,
        die: Die,
        listen: &mut L,
    ) -> Readied {
        let lane = &mut self.lanes[die.index()];
        if L::Features::SUSPEND && (lane.registers.ready() != now || lane.state != State::Busy) {
            return lane.stopped(now);
        }
        let worked = lane.step.array;
        let bus = &mut self.buses[lane.channel as usize];
        if L::Features::SUSPEND && lane.suspending {
            lane.suspending = !bus.withdraw(die);
        }
        lane.step = if L::Features::MULTI_PLANE {
            lane.rest.next(&self.chains)
        } else {
            self.chains.collect(lane.rest.operation)
        };
        Self::ask(now, die, lane, bus, listen);
        Readied::Done(worked)
    }

    /// Asks to lay the die's operation aside for a read. Nothing happens unless its array programs
    /// or erases, the part can suspend that, and it may still be suspended.
    pub fn suspend<L: Listen<OfDie = D, OfBus = B>>(
        &mut self,
        now: Time,
        die: Die,
        listen: &mut L,
    ) {
        let lane = &mut self.lanes[die.index()];
        if lane.state != State::Busy || lane.suspending || lane.aside.is_some() {
            return;
        }
        let able = match lane.step.confirm {
            Some(Confirm::Program(_)) => self.suspend.program.then_some(Command::ProgramSuspend),
            Some(Confirm::Erase(_)) => self.suspend.erase.then_some(Command::EraseSuspend),
            _ => None,
        };
        let Some(command) = able.filter(|_| lane.suspensions < self.suspend.most) else {
            return;
        };
        let step = self.chains.single(command);
        if now + step.bus + self.suspend.latency(command == Command::EraseSuspend)
            >= lane.registers.ready()
        {
            return;
        }
        lane.suspending = true;
        let channel = lane.channel;
        self.ask_urgently(now, channel, urgent(die, now, step.bus), listen);
    }

    /// Lets the operation that was laid aside go on; the die has no other chain.
    pub fn resume<L: Listen<OfDie = D, OfBus = B>>(&mut self, now: Time, die: Die, listen: &mut L) {
        let lane = &mut self.lanes[die.index()];
        debug_assert_eq!(lane.state, State::Free, "the chains in between are over");
        lane.state = State::OnBus;
        let erases = lane
            .aside
            .as_ref()
            .is_some_and(|aside| matches!(aside.confirm, Confirm::Erase(_)));
        let command = if erases {
            Command::EraseResume
        } else {
            Command::ProgramResume
        };
        let step = self.chains.single(command);
        let channel = lane.channel;
        self.ask_urgently(now, channel, urgent(die, now, step.bus), listen);
    }

    /// A suspend or a resume command is through, and the bus goes on.
    #[cold]
    fn interrupted<L: Listen<OfDie = D, OfBus = B>>(
        &mut self,
        now: Time,
        channel: u32,
        listen: &mut L,
    ) -> Released {
        let bus = &mut self.buses[channel as usize];
        let die = bus.holder;
        let held = BusHold {
            channel,
            die,
            from: bus.granted,
            of_die: &mut self.lanes[die.index()].own,
            of_bus: &mut bus.own,
        };
        listen.interrupted(now, held);
        let began = self.interrupt(now, die, listen);
        if !self.buses[channel as usize].line.is_empty() {
            self.serve(now, channel, listen);
        }
        Released {
            die,
            rows: 0,
            began,
            ended: false,
        }
    }

    /// What is laid aside goes on (true), or what the array is at is laid aside.
    fn interrupt<L: Listen<OfDie = D, OfBus = B>>(
        &mut self,
        now: Time,
        die: Die,
        listen: &mut L,
    ) -> bool {
        let lane = &mut self.lanes[die.index()];
        if let Some(aside) = lane.aside.take() {
            lane.step = aside.step;
            lane.rest = aside.rest;
            let time = Time::from_ns(self.suspend.resume_ns) + aside.remaining;
            let confirm = match aside.confirm {
                Confirm::Erase(_) => Confirm::Erase(time),
                _ => Confirm::Program(time),
            };
            Self::begin(now, die, lane, confirm, &self.chains, listen);
            return true;
        }
        lane.suspending = false;
        let Some(confirm) = lane.step.confirm else {
            return false;
        };
        let latency = self.suspend.latency(matches!(confirm, Confirm::Erase(_)));
        if lane.state != State::Busy || lane.registers.ready().since(now) <= latency {
            return false;
        }
        let remaining = lane.registers.ready() - now;
        lane.registers.stop(now + latency);
        lane.state = State::Stopping;
        lane.suspensions += 1;
        lane.aside = Some(Box::new(Aside {
            step: lane.step,
            rest: std::mem::replace(&mut lane.rest, Rest::NONE),
            confirm,
            remaining,
        }));
        listen.suspended(now, &mut lane.own, confirm, remaining, latency);
        listen.schedule(lane.registers.ready(), Event::Ready(die.0));
        false
    }

    /// Takes back a resume command that has not got the bus yet: the die is free for a read. False
    /// if there is none.
    pub fn withdraw_resume(&mut self, die: Die) -> bool {
        let lane = &mut self.lanes[die.index()];
        if lane.state != State::OnBus || lane.aside.is_none() {
            return false;
        }
        let withdrawn = self.buses[lane.channel as usize].withdraw(die);
        if withdrawn {
            lane.state = State::Free;
        }
        withdrawn
    }
}

impl<D, B> AtHand<'_, D, B> {
    /// What the owner keeps of the die.
    #[inline]
    pub fn own(&mut self) -> &mut D {
        &mut self.lane.own
    }
    /// The durations of the part.
    #[inline]
    pub fn chains(&self) -> &Chains {
        self.chains
    }
    /// The die, which is free, starts with the chain of one page or block. The array works for `time`.
    #[inline]
    pub fn start_legacy<L: Listen<OfDie = D, OfBus = B>>(
        self,
        now: Time,
        operation: Operation,
        time: Time,
        listen: &mut L,
    ) {
        let Self {
            die,
            chains,
            lane,
            bus,
        } = self;
        lane.rest.operation = operation;
        if L::Features::MULTI_PLANE {
            lane.rest.steps.clear();
            lane.rest.count = 1;
            lane.begin_with(chains.issue(operation, time));
        } else {
            lane.step = chains.issue(operation, time);
        }
        Channels::ask(now, die, lane, bus, listen);
    }
}

impl<D> Lane<D> {
    /// The first step of a chain is there, and the rest of it.
    #[inline]
    fn begin_with(&mut self, step: Step) {
        debug_assert_eq!(self.state, State::Free, "a die has one chain at a time");
        self.step = step;
        if self.aside.is_none() {
            self.suspensions = 0;
        }
    }
    /// A busy time ends that is not that of a step: the operation is laid aside, or the event stale.
    #[cold]
    fn stopped(&mut self, now: Time) -> Readied {
        if self.registers.ready() != now || self.state != State::Stopping {
            return Readied::Stale;
        }
        self.state = State::Free;
        Readied::Suspended
    }
}

impl<B> Bus<B> {
    /// A die asks while the bus is held.
    fn line_up(&mut self, now: Time, die: Die, step: &Step) {
        self.line.push_back(Asking {
            die,
            since: now,
            hold: step.bus,
            starts_array: step.array.is_some(),
            urgent: false,
        });
    }
    /// The suspend or resume command of a die is not sent, if it still waits; true if it did.
    #[cold]
    fn withdraw(&mut self, die: Die) -> bool {
        let before = self.line.len();
        self.line
            .retain(|asking| !(asking.urgent && asking.die == die));
        self.line.len() < before
    }
}

fn urgent(die: Die, now: Time, hold: Time) -> Asking {
    Asking {
        die,
        since: now,
        hold,
        starts_array: false,
        urgent: true,
    }
}
