//! Host reads, including those of the map, that precede other operations of their die: by
//! suspending a program or an erase, by delaying its resumption, or by starting first.

use wordline_kernel::Time;
use wordline_nand::{Array, Die, Full};

use super::BackEnd;
use super::die::DieCommand;
use super::finish::leave;
use super::listener::ChannelListener;
use super::transaction::NONE;
use super::transaction::Transaction;
use crate::event::Context;
use crate::observation::DeviceProbe;
use wordline_io_scheduler::Slot;

impl BackEnd {
    /// Lets a queued host read suspend the operation of its die, or delay the resumption of a
    /// suspended one.
    #[inline]
    pub fn preempt(&mut self, cx: &mut Context<impl DeviceProbe>, slot: Slot, array: &Array) {
        if self.suspends {
            self.suspend_for(cx, slot, array);
        }
    }

    #[cold]
    fn suspend_for(&mut self, cx: &mut Context<impl DeviceProbe>, slot: Slot, array: &Array) {
        let Transaction { die, place, .. } = *self.get(slot);
        let DieCommand {
            head, suspended_at, ..
        } = self.channels.of(die).command;
        if array.read(place).is_err() || head == NONE {
            return;
        }
        if cx.now.since(suspended_at) < self.longest && self.channels.withdraw_resume(die) {
            self.set_suspended(cx, die);
            self.serve_reads(cx, die, array);
            return;
        }
        let none = &mut ();
        let mut listener = ChannelListener::<_, Full>::new(&self.table, cx.queue, none);
        self.channels.suspend(cx.now, die, &mut listener);
    }

    /// Suspends the command of a die.
    pub(super) fn set_suspended(&mut self, cx: &mut Context<impl DeviceProbe>, die: Die) {
        let state = self.channels.of_mut(die);
        let command = state.command;
        leave(cx, die, state, 0);
        state.suspended = Some(Box::new(command));
    }

    /// Returns the first host read in a die's queue whose page is programmed. Other reads wait for
    /// the programs that they depend on.
    pub(super) fn waiting_read(&self, die: Die, array: &Array) -> Option<Slot> {
        let mut reads = self.channels.of(die).reads.iter().copied();
        reads.find(|slot| array.read(self.get(*slot).place).is_ok())
    }

    /// Suspends an array operation that starts while host reads wait for the die.
    pub(super) fn suspend_for_waiting(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        die: Die,
        array: &Array,
    ) {
        if let Some(slot) = self.waiting_read(die, array) {
            self.suspend_for(cx, slot, array);
        }
    }

    /// Serves the next read during a suspension, or resumes the command.
    pub(super) fn serve_reads(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        die: Die,
        array: &Array,
    ) {
        let suspended = self.channels.of(die).suspended.as_ref();
        let waits = suspended.map_or(Time::ZERO, |command| cx.now - command.suspended_at);
        if waits < self.longest
            && let Some(slot) = self.waiting_read(die, array)
        {
            self.begin_with::<Full>(cx, die, slot, array);
            return;
        }
        let state = self.channels.of_mut(die);
        let Some(command) = state.suspended.take() else {
            return;
        };
        self.forget_registers(die);
        let state = self.channels.of_mut(die);
        state.command = DieCommand {
            since: cx.now,
            ..*command
        };
        state.gc.start(cx.now, command.gc);
        let none = &mut ();
        let mut listener = ChannelListener::<_, Full>::new(&self.table, cx.queue, none);
        self.channels.resume(cx.now, die, &mut listener);
    }
}
