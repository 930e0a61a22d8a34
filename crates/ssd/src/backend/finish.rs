//! Bus holds and array operations that are over, and the commands that end with them.

use wordline_nand::channel::{ReadyOutcome, Released};
use wordline_nand::{Array, Die, Features, Operation};

use super::die::DieState;
use super::listener::ChannelListener;
use super::transaction::NONE;
use super::{BackEnd, Finished};
use crate::event::Context;
use crate::observation::{DeviceProbe, Observation};
use wordline_io_scheduler::Slot;

/// An array operation that has taken effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArrayDone {
    /// The first transaction of the command; see [`BackEnd::joined`].
    pub head: Slot,
    /// Read, program or erase.
    pub operation: Operation,
    /// Whether a page comes from the data register, into which it was read ahead.
    pub was_ahead: bool,
}

/// What the end of a busy time brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DieReady {
    /// The array has done something.
    Worked(ArrayDone),
    /// A command is finished, whose first transaction this is.
    Finished(Slot),
    /// Neither.
    Nothing,
}

impl BackEnd {
    /// A hold of a bus is over. Returns the first transaction of a command that is finished; its die
    /// goes on with the next.
    #[inline]
    pub fn bus_done<F: Features>(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        channel: u32,
        array: &Array,
    ) -> Option<Slot> {
        let now = cx.now;
        let mut listener = ChannelListener::<_, F>::new(&self.table, cx.queue, cx.probe);
        let released = self.channels.bus_done(now, channel, &mut listener);
        self.released::<F>(cx, released, array)
    }

    /// The same of what a hold, or the pin of a die, tells.
    #[inline(always)]
    fn released<F: Features>(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        released: Released,
        array: &Array,
    ) -> Option<Slot> {
        let die = released.die;
        if F::GENERAL && self.is_scheduled && (released.began || released.ended) {
            self.loads[die.index()].array_begun = true;
            self.load_changed = Some(die);
        }
        if released.ended {
            let head = self.finish::<F>(cx, die);
            if F::GENERAL {
                self.end_ahead(cx, die);
                if self.channels.of(die).command.head != NONE {
                    return Some(head);
                }
            }
            if F::GENERAL && self.suspends && self.channels.of(die).suspended.is_some() {
                self.serve_reads(cx, die, array);
            } else if F::GENERAL && (self.is_scheduled || !self.to_begin.is_empty()) {
                self.begin_with_others(cx, die);
            } else {
                self.start_next::<F>(cx, die, array);
            }
            return Some(head);
        }
        if F::GENERAL && released.began {
            if self.suspends {
                self.suspend_for_waiting(cx, die, array);
            }
            self.abort_ahead(cx, die);
        }
        None
    }

    /// The command of a die is over: its time is that of all its transactions.
    #[inline]
    pub(super) fn finish<F: Features>(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        die: Die,
    ) -> Slot {
        let now = cx.now;
        let pages = self.channels.of(die).command.pages;
        let sensed = if F::GENERAL {
            self.sensed(die, pages)
        } else {
            pages
        };
        let state = self.channels.of_mut(die);
        let command = &mut state.command;
        if F::GENERAL && self.suspends {
            command.parts.die_wait = (now - command.began).since(command.parts.total());
        }
        let head = command.head;
        if !command.gc {
            self.finished = Finished {
                parts: command.parts,
                began: command.began,
                gc_before: command.gc_before,
            };
            *self.loads[die.index()].of(command.operation) -= pages;
        }
        leave(cx, die, state, sensed);
        head
    }

    /// A busy time of a die is over: it wants the bus, has suspended its command, or is done. Returns the
    /// array operation that is done, or the first transaction of the command that is finished.
    #[inline]
    pub fn ready<F: Features>(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        die: Die,
        array: &Array,
    ) -> DieReady {
        let now = cx.now;
        let mut listener = ChannelListener::<_, F>::new(&self.table, cx.queue, cx.probe);
        match self.channels.ready(now, die, &mut listener) {
            ReadyOutcome::Done(worked) => {
                if F::GENERAL && self.brings(now, die, worked) {
                    return DieReady::Worked(ArrayDone {
                        head: self.channels.of(die).command.head,
                        operation: Operation::Read,
                        was_ahead: true,
                    });
                }
                let Some(operation) = worked else {
                    return DieReady::Nothing;
                };
                let command = &mut self.channels.of_mut(die).command;
                command.under_way = false;
                let programs = operation == Operation::Program;
                self.table.observe_array(now, command, programs, cx.probe);
                if F::GENERAL && self.has_page_conditions && self.table.goes_on(command, operation)
                {
                    command.under_way = true;
                    return DieReady::Nothing;
                }
                DieReady::Worked(ArrayDone {
                    head: command.head,
                    operation,
                    was_ahead: false,
                })
            }
            ReadyOutcome::Reported(released) => match self.released::<F>(cx, released, array) {
                Some(head) => DieReady::Finished(head),
                None => DieReady::Nothing,
            },
            ReadyOutcome::Suspended => {
                self.channels.of_mut(die).command.suspended_at = now;
                self.set_suspended(cx, die);
                self.serve_reads(cx, die, array);
                DieReady::Nothing
            }
            ReadyOutcome::Stale => DieReady::Nothing,
        }
    }
}

/// A die is not occupied by its command any more: for good, or while it lies suspended (`pages` is 0
/// then).
#[inline]
pub(super) fn leave(
    cx: &mut Context<impl DeviceProbe>,
    die: Die,
    state: &mut DieState,
    pages: u32,
) {
    state.gc.stop(cx.now);
    let command = &mut state.command;
    command.head = NONE;
    state.occupied += cx.now - command.since;
    cx.observe(Observation::Die {
        die,
        from: command.since,
        operation: command.operation,
        pages,
        interleaved: command.interleaved,
        gc: command.gc,
    });
}
