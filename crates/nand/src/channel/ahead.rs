//! Arrays that read ahead: dies that are let alone until they have, and those that are wanted before.

use super::Channels;
use super::lane::State;
use super::listen::{ChannelCallbacks, Event};
use crate::Die;
use crate::chain::Step;
use crate::features::Features;
use crate::registers::Confirm;
use crate::transaction::Operation;
use wordline_kernel::Time;

impl<D, B> Channels<D, B> {
    /// Lets a free die alone until its array, which a cache read has left at work, has read its page; a status read follows. Returns when that is.
    pub fn await_array<L: ChannelCallbacks<D, B>>(
        &mut self,
        now: Time,
        die: Die,
        listen: &mut L,
    ) -> Time {
        debug_assert!(L::Features::GENERAL, "basic dies have no cache registers");
        let step = Step {
            array: Some(Operation::Read),
            ..self.chains.last_status()
        };
        let lane = &mut self.lanes[die.index()];
        lane.begin_with(step);
        lane.rest.end_early();
        lane.registers.wait_for_array(now);
        lane.state = State::Busy;
        let until = lane.registers.ready();
        listen.schedule(until, Event::Ready(die.0));
        until
    }

    /// Aborts the read of a die whose array reads ahead: the die is ready after `latency`, for a status read. Returns the array time that is saved; none, and the read goes
    /// on, if the array does not work, or is ready before.
    pub fn abort<L: ChannelCallbacks<D, B>>(
        &mut self,
        now: Time,
        die: Die,
        latency: Time,
        listen: &mut L,
    ) -> Option<Time> {
        let lane = &mut self.lanes[die.index()];
        let (until, free) = (lane.registers.ready(), now + latency);
        if lane.state != State::Busy || lane.step.array != Some(Operation::Read) || until <= free {
            return None;
        }
        let most = match lane.step.confirm {
            Some(Confirm::ReadAhead(time)) => time,
            _ => until,
        };
        lane.registers.stop(free);
        lane.step.array = None;
        listen.schedule(free, Event::Ready(die.0));
        Some(most.min(until - free))
    }
}
