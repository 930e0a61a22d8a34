//! Speculative reads of the array (read-ahead): waiting for a read, or aborting it.

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
    /// Keeps a free die waiting until its array has finished the read that a cache read left in
    /// progress; a status read follows. Returns the time at which the array finishes.
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

    /// Aborts the speculative read of a die. The die is ready after `latency`, for a status read.
    /// Returns the array time saved, or `None` if the die is not busy with a read or the read would
    /// finish within `latency`; a read then continues.
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
