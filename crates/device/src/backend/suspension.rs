//! Reads of the host that go before programs and erases: by suspending them, by letting them wait
//! longer, or by beginning first.

use wordline_kernel::{EventQueue, Probe, Time};
use wordline_nand::{Array, Die};

use super::die::DieCommand;
use super::listener::ChannelListener;
use super::transaction::{NONE, Slot, Transaction};
use super::{BackEnd, leave};
use crate::event::Event;
use crate::observation::Observation;

impl BackEnd {
    /// A read of the host has been enqueued: what its die is at may be suspended for it, or wait
    /// longer until it is resumed.
    #[inline]
    pub fn preempt(
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
        let DieCommand {
            head, suspended_at, ..
        } = self.channels.of(die).command;
        if array.read(place).is_err() || head == NONE {
            return;
        }
        if now.since(suspended_at) < self.longest && self.channels.withdraw_resume(die) {
            self.set_suspended(now, die, probe);
            self.serve_reads(now, die, array, queue);
            return;
        }
        let mut listener = ChannelListener::<_, false> {
            table: &self.table,
            queue,
            probe: &mut (),
        };
        self.channels.suspend(now, die, &mut listener);
    }

    /// The die's command makes way for reads.
    pub(super) fn set_suspended(
        &mut self,
        now: Time,
        die: Die,
        probe: &mut impl Probe<Observation>,
    ) {
        let state = self.channels.of_mut(die);
        let command = state.command;
        leave(now, die, state, 0, probe);
        state.suspended = Some(Box::new(command));
    }

    /// The first read of the host in a die's queue whose page is programmed. The others wait behind
    /// the programs that they depend on.
    pub(super) fn waiting_read(&self, die: Die, array: &Array) -> Option<Slot> {
        let mut reads = self.channels.of(die).reads.iter().copied();
        reads.find(|slot| array.read(self.get(*slot).place).is_ok())
    }

    /// The array of a die starts to work while reads of the host wait for it.
    pub(super) fn suspend_for_waiting(
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

    /// With a command laid suspended: serves the next read, or goes on with the command.
    pub(super) fn serve_reads(
        &mut self,
        now: Time,
        die: Die,
        array: &Array,
        queue: &mut EventQueue<Event>,
    ) {
        let suspended = self.channels.of(die).suspended.as_ref();
        let waits = suspended.map_or(Time::ZERO, |command| now - command.suspended_at);
        if waits < self.longest
            && let Some(slot) = self.waiting_read(die, array)
        {
            self.begin_with(now, die, slot, array, queue);
            return;
        }
        let state = self.channels.of_mut(die);
        let Some(command) = state.suspended.take() else {
            return;
        };
        state.command = DieCommand {
            since: now,
            ..*command
        };
        state.gc.start(now, command.gc);
        let mut listener = ChannelListener::<_, false> {
            table: &self.table,
            queue,
            probe: &mut (),
        };
        self.channels.resume(now, die, &mut listener);
    }
}
