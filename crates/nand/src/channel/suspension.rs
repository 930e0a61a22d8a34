//! Suspension of programs and erases for reads, and their resumption.

use super::Channels;
use super::lane::{Rest, State, Suspended, urgent};
use super::listen::{BusHold, ChannelCallbacks, Event, Released};
use crate::Die;
use crate::command::Command;
use crate::registers::Confirm;
use wordline_kernel::Time;

impl<D, B> Channels<D, B> {
    /// Suspends the die's operation for a read. Has no effect unless the die is busy with a program
    /// (10h) or an erase that the part can suspend. Also has no effect if the operation has reached
    /// its limit of suspensions, if it would end before it is suspended, or if the die already has
    /// a suspended operation.
    pub fn suspend<L: ChannelCallbacks<D, B>>(&mut self, now: Time, die: Die, listen: &mut L) {
        let lane = &mut self.lanes[die.index()];
        if lane.state != State::Busy || lane.suspending || lane.suspended.is_some() {
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

    /// Resumes the suspended operation of a die, which must have no other chain.
    pub fn resume<L: ChannelCallbacks<D, B>>(&mut self, now: Time, die: Die, listen: &mut L) {
        let lane = &mut self.lanes[die.index()];
        debug_assert_eq!(lane.state, State::Free, "the die has no other chain");
        lane.state = State::OnBus;
        let erases = lane
            .suspended
            .as_ref()
            .is_some_and(|suspended| matches!(suspended.confirm, Confirm::Erase(_)));
        let command = if erases {
            Command::EraseResume
        } else {
            Command::ProgramResume
        };
        let step = self.chains.single(command);
        let channel = lane.channel;
        self.ask_urgently(now, channel, urgent(die, now, step.bus), listen);
    }

    /// Ends a suspend or resume command, and grants the bus to the next die.
    #[cold]
    pub(super) fn interrupted<L: ChannelCallbacks<D, B>>(
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

    /// Resumes the suspended operation and returns `true`, or suspends the operation in progress
    /// and returns `false`. An operation that ends within the suspend latency continues.
    pub(super) fn interrupt<L: ChannelCallbacks<D, B>>(
        &mut self,
        now: Time,
        die: Die,
        listen: &mut L,
    ) -> bool {
        let lane = &mut self.lanes[die.index()];
        if let Some(suspended) = lane.suspended.take() {
            lane.step = suspended.step;
            lane.rest = suspended.rest;
            let time = Time::from_ns(self.suspend.resume_ns) + suspended.remaining;
            let confirm = match suspended.confirm {
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
        lane.suspended = Some(Box::new(Suspended {
            step: lane.step,
            rest: std::mem::replace(&mut lane.rest, Rest::NONE),
            confirm,
            remaining,
        }));
        listen.suspended(now, &mut lane.own, confirm, remaining, latency);
        listen.schedule(lane.registers.ready(), Event::Ready(die.0));
        false
    }

    /// Cancels a resume command that still waits for the bus, so that the die is free for a read.
    /// Returns `false` if there is none.
    pub fn withdraw_resume(&mut self, die: Die) -> bool {
        let lane = &mut self.lanes[die.index()];
        if lane.state != State::OnBus || lane.suspended.is_none() {
            return false;
        }
        let withdrawn = self.buses[lane.channel as usize].withdraw(die);
        if withdrawn {
            lane.state = State::Free;
        }
        withdrawn
    }
}
