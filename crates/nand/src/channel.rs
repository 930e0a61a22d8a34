//! Buses and the dies that share them: chains, executed from event to event.
//!
//! A die carries out one chain at a time. It asks for the bus of its channel when it is ready for
//! the next hold; the arbitration says who gets the bus; what the hold's last cycle sets going
//! decides when the die is ready again. A program or an erase can be laid aside for reads where the
//! part allows it.

use std::collections::VecDeque;

use wordline_kernel::Time;

use crate::Die;
use crate::arbitrate::{Arbitrate, Arbitration, Asking};
use crate::chain::{Chains, Stage, Step};
use crate::command::Command;
use crate::registers::{Confirm, Registers, Work};
use crate::suspend::Suspend;

/// Something that will happen on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

/// Hears what the channels do, and keeps their events.
pub trait Listen {
    /// Hands `event` back at `at`.
    fn schedule(&mut self, at: Time, event: Event);
    /// A die starts to ask for the bus.
    fn asks(&mut self, now: Time, channel: u32, die: Die);
    /// A die that has asked since `since` gets the bus for `hold`.
    fn granted(&mut self, now: Time, channel: u32, die: Die, since: Time, hold: Time);
    /// The hold is over; it was granted at `from`.
    fn released(&mut self, now: Time, channel: u32, die: Die, step: &Step, from: Time);
    /// Whether the array may do what the hold that ends now asks of it. If not, the chain ends with
    /// a status read.
    fn allows(&mut self, now: Time, die: Die, confirm: Confirm) -> bool;
    /// The die is busy until `ready`, its array in `work`.
    fn busy(&mut self, now: Time, die: Die, confirm: Confirm, work: Work, ready: Time);
    /// The array lays its work aside with `remaining` to do; it stops after `latency`.
    fn suspended(&mut self, now: Time, die: Die, confirm: Confirm, remaining: Time, latency: Time);
    /// A command that suspends or resumes an operation is through; it was on the bus since `from`.
    fn interrupted(&mut self, now: Time, channel: u32, die: Die, from: Time);
}

/// What the end of a hold means to the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Released {
    /// The die.
    pub die: Die,
    /// Rows that are done and reported.
    pub rows: u8,
    /// What the hold has set going.
    pub confirm: Option<Confirm>,
    /// Whether the chain is over: the die is free.
    pub ended: bool,
}

/// What the end of a busy time means to the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readied {
    /// The die is ready; this had been set going.
    Done(Die, Confirm),
    /// The die has laid its operation aside: it takes other chains until it is resumed.
    Suspended(Die),
    /// The die was suspended meanwhile; the event means nothing.
    Stale,
}

/// What a die is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No chain.
    Free,
    /// In line for the bus, or on it.
    OnBus,
    /// Waits to be ready.
    Busy,
}

/// A chain laid aside.
#[derive(Clone, Debug)]
struct Aside {
    steps: Vec<Step>,
    at: usize,
    confirm: Confirm,
    remaining: Time,
}

#[derive(Clone, Debug)]
struct Lane {
    channel: u32,
    state: State,
    steps: Vec<Step>,
    /// The step on the bus, or whose busy time runs.
    at: usize,
    registers: Registers,
    /// End of the present busy time; events of other ends are stale.
    ready: Time,
    /// Whether a suspend command is asked for or on its way.
    suspending: bool,
    suspensions: u32,
    aside: Option<Box<Aside>>,
}

#[derive(Clone, Debug)]
struct Bus {
    held: bool,
    /// Who holds the bus, or held it last.
    holder: Die,
    /// Whether the hold suspends or resumes an operation.
    urgent: bool,
    granted: Time,
    line: VecDeque<Asking>,
}

/// Channels with equal numbers of dies.
#[derive(Clone, Debug)]
pub struct Channels {
    chains: Chains,
    suspend: Suspend,
    arbitration: Vec<Arbitration>,
    lanes: Vec<Lane>,
    buses: Vec<Bus>,
}

impl Channels {
    /// `dies` idle dies, `dies_per_channel` on each bus.
    pub fn new(
        dies: u32,
        dies_per_channel: u32,
        chains: Chains,
        arbitration: &Arbitration,
        suspend: &Suspend,
    ) -> Self {
        let lane = |die: u32| Lane {
            channel: die / dies_per_channel,
            state: State::Free,
            steps: Vec::new(),
            at: 0,
            registers: Registers::default(),
            ready: Time::ZERO,
            suspending: false,
            suspensions: 0,
            aside: None,
        };
        let bus = Bus {
            held: false,
            holder: Die(dies_per_channel - 1),
            urgent: false,
            granted: Time::ZERO,
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
    #[inline]
    pub fn load(&mut self, die: Die, build: impl FnOnce(&Chains, &mut Vec<Step>)) {
        let lane = &mut self.lanes[die.index()];
        debug_assert_eq!(lane.state, State::Free, "a die has one chain at a time");
        lane.steps.clear();
        lane.at = 0;
        if lane.aside.is_none() {
            lane.suspensions = 0;
        }
        build(&self.chains, &mut lane.steps);
    }

    /// Starts the chain that was loaded into a die: it asks for the bus.
    #[inline]
    pub fn start(&mut self, now: Time, die: Die, listen: &mut impl Listen) {
        self.lanes[die.index()].state = State::OnBus;
        self.ask(now, die, listen);
    }

    #[inline]
    fn ask(&mut self, now: Time, die: Die, listen: &mut impl Listen) {
        let lane = &self.lanes[die.index()];
        let step = &lane.steps[lane.at];
        let channel = lane.channel;
        listen.asks(now, channel, die);
        let bus = &mut self.buses[channel as usize];
        if !bus.held {
            listen.granted(now, channel, die, now, step.bus);
            Self::hold(now, channel, bus, die, step.bus, listen);
            return;
        }
        bus.line.push_back(Asking {
            die,
            since: now,
            hold: step.bus,
            starts_array: step.confirm.and_then(Stage::of_array).is_some(),
            urgent: false,
        });
    }

    /// A die asks to suspend or resume its operation.
    fn ask_urgently(&mut self, now: Time, channel: u32, asking: Asking, listen: &mut impl Listen) {
        let bus = &mut self.buses[channel as usize];
        if bus.held {
            bus.line.push_back(asking);
        } else {
            Self::grant(now, channel, bus, asking, listen);
        }
    }

    #[inline]
    fn grant(now: Time, channel: u32, bus: &mut Bus, asking: Asking, listen: &mut impl Listen) {
        if !asking.urgent {
            listen.granted(now, channel, asking.die, asking.since, asking.hold);
        }
        Self::hold(now, channel, bus, asking.die, asking.hold, listen);
        bus.urgent = asking.urgent;
    }

    #[inline]
    fn hold(
        now: Time,
        channel: u32,
        bus: &mut Bus,
        die: Die,
        hold: Time,
        listen: &mut impl Listen,
    ) {
        bus.held = true;
        bus.holder = die;
        bus.urgent = false;
        bus.granted = now;
        listen.schedule(now + hold, Event::BusDone(channel));
    }

    /// A hold ends: what it sets going starts, the bus goes to the next die in line, and the die
    /// asks again if its next hold needs no wait. A resume command sets going what was laid aside;
    /// `None` if the hold was a suspend command.
    #[inline]
    pub fn bus_done(
        &mut self,
        now: Time,
        channel: u32,
        listen: &mut impl Listen,
    ) -> Option<Released> {
        let bus = &mut self.buses[channel as usize];
        bus.held = false;
        let (die, urgent, from) = (bus.holder, bus.urgent, bus.granted);
        if urgent {
            listen.interrupted(now, channel, die, from);
            let resumed = self.interrupt(now, die, listen);
            self.serve(now, channel, listen);
            return resumed;
        }
        let released = self.release(now, channel, die, from, listen);
        self.serve(now, channel, listen);
        if released.confirm.is_none() && !released.ended {
            self.lanes[die.index()].at += 1;
            self.ask(now, die, listen);
        }
        Some(released)
    }

    #[inline]
    fn serve(&mut self, now: Time, channel: u32, listen: &mut impl Listen) {
        let bus = &mut self.buses[channel as usize];
        if bus.line.is_empty() {
            return;
        }
        let next = match self.arbitration[channel as usize].choose(&bus.line, bus.holder) {
            0 => bus.line.pop_front(),
            place => bus.line.remove(place),
        };
        if let Some(asking) = next {
            Self::grant(now, channel, bus, asking, listen);
        }
    }

    #[inline]
    fn release(
        &mut self,
        now: Time,
        channel: u32,
        die: Die,
        from: Time,
        listen: &mut impl Listen,
    ) -> Released {
        let busy = self.chains.busy();
        let lane = &mut self.lanes[die.index()];
        let step = &lane.steps[lane.at];
        listen.released(now, channel, die, step, from);
        let (mut going, rows) = (step.confirm, step.reports);
        if let Some(confirm) = going
            && !listen.allows(now, die, confirm)
        {
            going = None;
            lane.steps.truncate(lane.at + 1);
            lane.steps.push(self.chains.last_status());
        }
        let ended = lane.at + 1 == lane.steps.len();
        if let Some(confirm) = going {
            let work = lane.registers.confirm(now, confirm, busy);
            lane.ready = lane.registers.ready();
            lane.state = State::Busy;
            listen.busy(now, die, confirm, work, lane.ready);
            listen.schedule(lane.ready, Event::Ready(die.0));
        } else if ended {
            lane.state = State::Free;
        }
        Released {
            die,
            rows,
            confirm: going,
            ended: ended && going.is_none(),
        }
    }

    /// A busy time ends: the die asks for its next hold.
    #[inline]
    pub fn ready(&mut self, now: Time, die: Die, listen: &mut impl Listen) -> Readied {
        let lane = &mut self.lanes[die.index()];
        if lane.ready != now || lane.state != State::Busy {
            return Readied::Stale;
        }
        if lane.aside.is_some() && lane.steps.is_empty() {
            lane.state = State::Free;
            return Readied::Suspended(die);
        }
        let Some(confirm) = lane.steps[lane.at].confirm else {
            return Readied::Stale;
        };
        if lane.suspending {
            self.withdraw(die);
        }
        let lane = &mut self.lanes[die.index()];
        lane.at += 1;
        lane.state = State::OnBus;
        self.ask(now, die, listen);
        Readied::Done(die, confirm)
    }

    /// Asks to lay the die's operation aside for a read. Nothing happens unless its array programs
    /// or erases, the part can suspend that, and it may still be suspended.
    pub fn suspend(&mut self, now: Time, die: Die, listen: &mut impl Listen) {
        let lane = &mut self.lanes[die.index()];
        if lane.state != State::Busy || lane.suspending || lane.aside.is_some() {
            return;
        }
        let able = match lane.steps.get(lane.at).and_then(|step| step.confirm) {
            Some(Confirm::Program(_)) => self.suspend.program.then_some(Command::ProgramSuspend),
            Some(Confirm::Erase(_)) => self.suspend.erase.then_some(Command::EraseSuspend),
            _ => None,
        };
        let Some(command) = able.filter(|_| lane.suspensions < self.suspend.most) else {
            return;
        };
        let step = self.chains.single(command);
        if now + step.bus + self.suspend.latency(command == Command::EraseSuspend) >= lane.ready {
            return;
        }
        lane.suspending = true;
        let channel = lane.channel;
        self.ask_urgently(now, channel, urgent(die, now, step.bus), listen);
    }

    /// Lets the operation that was laid aside go on; the die has no other chain.
    pub fn resume(&mut self, now: Time, die: Die, listen: &mut impl Listen) {
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

    /// A suspend or a resume command is through.
    fn interrupt(&mut self, now: Time, die: Die, listen: &mut impl Listen) -> Option<Released> {
        let lane = &mut self.lanes[die.index()];
        if let Some(aside) = lane.aside.take() {
            lane.steps = aside.steps;
            lane.at = aside.at;
            let time = Time::from_ns(self.suspend.resume_ns) + aside.remaining;
            let confirm = match aside.confirm {
                Confirm::Erase(_) => Confirm::Erase(time),
                _ => Confirm::Program(time),
            };
            let work = lane.registers.confirm(now, confirm, self.chains.busy());
            lane.ready = lane.registers.ready();
            lane.state = State::Busy;
            listen.busy(now, die, confirm, work, lane.ready);
            listen.schedule(lane.ready, Event::Ready(die.0));
            return Some(Released {
                die,
                rows: 0,
                confirm: Some(confirm),
                ended: false,
            });
        }
        lane.suspending = false;
        let confirm = lane.steps.get(lane.at).and_then(|step| step.confirm)?;
        let latency = self.suspend.latency(matches!(confirm, Confirm::Erase(_)));
        if lane.state != State::Busy || lane.ready.since(now) <= latency {
            return None;
        }
        let remaining = lane.ready - now;
        lane.registers.stop(now + latency);
        lane.ready = now + latency;
        lane.suspensions += 1;
        lane.aside = Some(Box::new(Aside {
            steps: std::mem::take(&mut lane.steps),
            at: lane.at,
            confirm,
            remaining,
        }));
        lane.at = 0;
        listen.suspended(now, die, confirm, remaining, latency);
        listen.schedule(lane.ready, Event::Ready(die.0));
        None
    }

    /// Takes back a resume command that has not got the bus yet: the die is free for a read. False
    /// if there is none.
    pub fn withdraw_resume(&mut self, die: Die) -> bool {
        let lane = &mut self.lanes[die.index()];
        if lane.state != State::OnBus || lane.aside.is_none() {
            return false;
        }
        let line = &mut self.buses[lane.channel as usize].line;
        let before = line.len();
        line.retain(|asking| !(asking.urgent && asking.die == die));
        let withdrawn = line.len() < before;
        if withdrawn {
            lane.state = State::Free;
        }
        withdrawn
    }

    /// The operation ended before its suspend command got the bus: the command is not sent.
    #[cold]
    fn withdraw(&mut self, die: Die) {
        let channel = self.lanes[die.index()].channel;
        let line = &mut self.buses[channel as usize].line;
        let before = line.len();
        line.retain(|asking| !(asking.urgent && asking.die == die));
        if line.len() < before {
            self.lanes[die.index()].suspending = false;
        }
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
