//! Channels and their dies, which execute command chains event by event.
//!
//! A die executes one chain at a time. It requests the bus of its channel when it is ready for the
//! next bus grant, and arbitration selects the next die. The last cycle of a grant starts work that
//! determines when the die is ready again. If the part supports suspension, reads can suspend a
//! program or erase.

mod ahead;
mod lane;
mod listen;
mod suspension;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use wordline_kernel::{BusyTime, Rng, Time};

use self::lane::{Bus, Lane, Rest, State};
pub use self::listen::{BusHold, ChannelCallbacks, Event, ReadyOutcome, Released};
use crate::Die;
use crate::arbitrate::{Arbitrate, Arbitration, Asking};
use crate::chain::{Chains, Step};
use crate::features::Features;
use crate::registers::{Confirm, Registers};
use crate::suspend::Suspend;
use crate::transaction::Operation;

/// Exclusive access to a die and its bus, looked up once for several steps.
#[derive(Debug)]
pub struct DieAccess<'a, D, B> {
    die: Die,
    chains: &'a Chains,
    lane: &'a mut Lane<D>,
    bus: &'a mut Bus<B>,
}

/// Channels with equal numbers of dies, and the owner's data for each die and each bus.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Channels<D, B> {
    chains: Chains,
    suspend: Suspend,
    arbitration: Vec<Arbitration>,
    lanes: Vec<Lane<D>>,
    buses: Vec<Bus<B>>,
}

impl<D: Clone, B: Clone> Channels<D, B> {
    /// Creates `dies` idle dies, `dies_per_channel` on each bus. Each die and each bus receives a
    /// clone of the given owner's data.
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
            suspended: None,
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

    /// Returns the owner's data of all dies, in die order.
    pub fn dies(&self) -> impl Iterator<Item = &D> {
        self.lanes.iter().map(|lane| &lane.own)
    }
}

impl<D, B> Channels<D, B> {
    /// Returns the owner's data of a die.
    #[inline]
    pub fn of(&self, die: Die) -> &D {
        &self.lanes[die.index()].own
    }
    /// Returns mutable access to the owner's data of a die.
    #[inline]
    pub fn of_mut(&mut self, die: Die) -> &mut D {
        &mut self.lanes[die.index()].own
    }
    /// Returns the busy time of each bus, in bus order.
    pub fn buses_busy(&self) -> impl Iterator<Item = BusyTime> + '_ {
        let since = |bus: &Bus<B>| bus.held.then_some(bus.granted);
        self.buses
            .iter()
            .map(move |bus| BusyTime::new(bus.busy, since(bus)))
    }
    /// Returns the durations of the part.
    #[inline]
    pub const fn chains(&self) -> &Chains {
        &self.chains
    }
    /// Returns `true` if the die executes no chain; it may have a suspended one.
    #[inline]
    pub fn is_free(&self, die: Die) -> bool {
        self.lanes[die.index()].state == State::Free
    }
    /// Sets the slowness of a die: the array times of operations that start later are multiplied by
    /// `slowness` thousandths. `slowness` is at least 1.
    pub fn slow_down(&mut self, die: Die, slowness: u32) {
        self.chains.slow_down(die, slowness);
    }
    /// Copies the slowness of every die from other channels of the same size.
    pub fn keep_slow_dies(&mut self, other: &Self) {
        self.chains.keep_slow_dies(&other.chains);
    }
    /// Loads a chain into a free die. `build` appends its steps, at least one.
    pub fn load(&mut self, die: Die, build: impl FnOnce(&Chains, &mut Vec<Step>)) {
        let lane = &mut self.lanes[die.index()];
        lane.rest.steps.clear();
        build(&self.chains, &mut lane.rest.steps);
        if !self.chains.slowness().is_normal() {
            self.chains.slow_steps(die, &mut lane.rest.steps);
        }
        lane.rest.count = lane.rest.steps.len() as u32 - 1;
        lane.begin_with(lane.rest.steps[0]);
    }
    /// Returns exclusive access to a die and its bus.
    #[inline]
    pub fn at(&mut self, die: Die) -> DieAccess<'_, D, B> {
        let lane = &mut self.lanes[die.index()];
        DieAccess {
            die,
            chains: &self.chains,
            bus: &mut self.buses[lane.channel as usize],
            lane,
        }
    }

    /// Starts the chain loaded into a die: the die requests the bus.
    #[inline]
    pub fn start<L: ChannelCallbacks<D, B>>(&mut self, now: Time, die: Die, listen: &mut L) {
        let lane = &mut self.lanes[die.index()];
        let bus = &mut self.buses[lane.channel as usize];
        Self::ask(now, die, lane, bus, listen);
    }

    /// Requests the bus of the die's channel.
    #[inline(always)]
    fn ask<L: ChannelCallbacks<D, B>>(
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

    /// Requests the bus to suspend or resume the die's operation.
    fn ask_urgently<L: ChannelCallbacks<D, B>>(
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
    fn grant<L: ChannelCallbacks<D, B>>(
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
        if !L::Features::GENERAL || !asking.urgent {
            let of_die = &mut self.lanes[die.index()].own;
            listen.granted(now, die, &mut bus.own, of_die, since, hold);
        }
        Self::hold(now, channel, bus, die, hold, listen);
        if L::Features::GENERAL {
            bus.urgent = asking.urgent;
        }
    }

    #[inline]
    fn hold<L: ChannelCallbacks<D, B>>(
        now: Time,
        channel: u32,
        bus: &mut Bus<B>,
        die: Die,
        hold: Time,
        listen: &mut L,
    ) {
        bus.held = true;
        bus.holder = die;
        if L::Features::GENERAL {
            bus.urgent = false;
        }
        bus.granted = now;
        listen.schedule(now + hold, Event::BusDone(channel));
    }

    /// Ends a bus grant. Starts the work that the grant confirms, and grants the bus to the next
    /// die in the queue. Requests the bus again for the die if its next grant needs no wait. The
    /// end of a resume command continues the suspended work.
    #[inline]
    pub fn bus_done<L: ChannelCallbacks<D, B>>(
        &mut self,
        now: Time,
        channel: u32,
        listen: &mut L,
    ) -> Released {
        let bus = &mut self.buses[channel as usize];
        bus.held = false;
        bus.busy += now - bus.granted;
        if L::Features::GENERAL && bus.urgent {
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
        let ended = !began && (!L::Features::CHAINS || lane.rest.count == 0);
        if ended {
            lane.state = State::Free;
        }
        if !bus.line.is_empty() {
            self.serve(now, channel, listen);
        }
        if L::Features::CHAINS && !began && !ended {
            self.go_on(now, die, listen);
        }
        Released {
            die,
            rows,
            began,
            ended,
        }
    }

    /// Handles the ready/busy pin of a die, which signals the end of its operation.
    #[cold]
    fn report<L: ChannelCallbacks<D, B>>(
        &mut self,
        now: Time,
        die: Die,
        listen: &mut L,
    ) -> Released {
        let lane = &mut self.lanes[die.index()];
        let rows = lane.step.reports;
        let ended = lane.rest.count == 0;
        if ended {
            lane.state = State::Free;
        } else {
            self.go_on(now, die, listen);
        }
        Released {
            die,
            rows,
            began: false,
            ended,
        }
    }

    /// Requests the bus for the next step of a chain, which need not wait.
    #[inline(never)]
    fn go_on<L: ChannelCallbacks<D, B>>(&mut self, now: Time, die: Die, listen: &mut L) {
        let lane = &mut self.lanes[die.index()];
        lane.step = lane.rest.next(&self.chains);
        let bus = &mut self.buses[lane.channel as usize];
        Self::ask(now, die, lane, bus, listen);
    }

    /// Grants the bus to the next die of the queue, which must not be empty.
    fn serve<L: ChannelCallbacks<D, B>>(&mut self, now: Time, channel: u32, listen: &mut L) {
        let bus = &mut self.buses[channel as usize];
        let next = match self.arbitration[channel as usize].choose(&bus.line, bus.holder) {
            0 => bus.line.pop_front(),
            place => bus.line.remove(place),
        };
        if let Some(asking) = next {
            self.grant(now, channel, asking, listen);
        }
    }

    /// Starts the work that a bus grant confirms, if the array allows it. Returns `true` if work
    /// started.
    #[inline]
    fn release<L: ChannelCallbacks<D, B>>(
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

    /// Makes the die busy with the work of `confirm`.
    #[inline]
    fn begin<L: ChannelCallbacks<D, B>>(
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

    /// Ends a busy time: the die requests its next bus grant.
    #[inline]
    pub fn ready<L: ChannelCallbacks<D, B>>(
        &mut self,
        now: Time,
        die: Die,
        listen: &mut L,
    ) -> ReadyOutcome {
        let lane = &mut self.lanes[die.index()];
        if L::Features::GENERAL && (lane.registers.ready() != now || lane.state != State::Busy) {
            if lane.state == State::Reporting {
                return ReadyOutcome::Reported(self.report(now, die, listen));
            }
            return lane.stopped(now);
        }
        let worked = lane.step.array;
        let bus = &mut self.buses[lane.channel as usize];
        if L::Features::GENERAL && lane.suspending {
            lane.suspending = !bus.withdraw(die);
        }
        lane.step = if L::Features::CHAINS {
            lane.rest.next(&self.chains)
        } else {
            self.chains.collect(lane.rest.operation)
        };
        if L::Features::GENERAL && lane.step.hold.is_empty() {
            lane.state = State::Reporting;
            listen.schedule(now, Event::Ready(die.0));
            return ReadyOutcome::Done(worked);
        }
        Self::ask(now, die, lane, bus, listen);
        ReadyOutcome::Done(worked)
    }
}

impl<D, B> DieAccess<'_, D, B> {
    /// Returns the owner's data of the die.
    #[inline]
    pub fn own(&mut self) -> &mut D {
        &mut self.lane.own
    }
    /// Returns the durations of the part.
    #[inline]
    pub fn chains(&self) -> &Chains {
        self.chains
    }
    /// Returns the array time of an operation of this die on the page at `offset` of its block, as
    /// [`Chains::array_time`] does for a die of normal speed.
    #[inline]
    pub fn array_time(&self, operation: Operation, offset: u32, draws: &mut Rng) -> Time {
        let time = self.chains.latencies().of(operation, offset);
        if !self.chains.latencies().varies {
            return time;
        }
        self.chains.varied_of(self.die, time, draws)
    }
    /// Starts a single-page or single-block operation on the die, which must be free. The array
    /// works for `time`.
    #[inline]
    pub fn start_single<L: ChannelCallbacks<D, B>>(
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
        if L::Features::CHAINS {
            lane.rest.steps.clear();
            lane.rest.count = 1;
            lane.begin_with(chains.issue(operation, time));
        } else {
            lane.step = chains.issue(operation, time);
        }
        Channels::ask(now, die, lane, bus, listen);
    }
}
