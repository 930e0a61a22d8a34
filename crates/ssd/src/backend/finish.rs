//! Ends of bus grants and array operations, and the commands that finish with them.

use wordline_nand::channel::{ReadyOutcome, Released};
use wordline_nand::{Array, Die, Features, Operation};

use super::die::DieState;
use super::listener::ChannelListener;
use super::transaction::NONE;
use super::{BackEnd, Finished};
use crate::event::Context;
use crate::observation::{DeviceProbe, Observation};
use wordline_io_scheduler::Slot;

/// An array operation that has ended, or a page that was read ahead and is now available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArrayDone {
    /// First transaction of the command; see [`BackEnd::joined`].
    pub head: Slot,
    /// Read, program or erase.
    pub operation: Operation,
    /// Whether the page comes from the data register, into which it was read ahead.
    pub was_ahead: bool,
}

/// Result of the end of a die's busy time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DieReady {
    /// The array has finished an operation.
    Worked(ArrayDone),
    /// The command with this first transaction is finished.
    Finished(Slot),
    /// The command continues or is suspended, or the event was stale.
    Nothing,
}

impl BackEnd {
    /// Ends a bus grant. Returns the first transaction of the command that finishes with it, if
    /// any; the die starts its next command.
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

    /// Finishes or continues a die's command after the end of a bus grant or a signal of its R/B#
    /// pin. Returns the first transaction of the command if it is finished.
    #[inline(always)]
    fn released<F: Features>(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        released: Released,
        array: &Array,
    ) -> Option<Slot> {
        let die = released.die;
        if F::SCHEDULED && self.is_scheduled && (released.began || released.ended) {
            self.loads[die.index()].array_begun = true;
            self.load_changed = Some(die);
        }
        if released.ended {
            let head = self.finish::<F>(cx, die);
            if F::GENERAL && self.ahead.is_some() {
                self.end_ahead(cx, die);
                if self.channels.of(die).command.head != NONE {
                    return Some(head);
                }
            }
            if F::GENERAL && self.suspends && self.channels.of(die).suspended.is_some() {
                self.serve_reads(cx, die, array);
            } else if F::CHAINS && (F::SCHEDULED && self.is_scheduled || !self.to_begin.is_empty())
            {
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
            if self.ahead.is_some() {
                self.abort_ahead(cx, die);
            }
        }
        None
    }

    /// Ends the command of a die and returns its first transaction. The command's latency
    /// components apply to all its transactions.
    #[inline]
    pub(super) fn finish<F: Features>(
        &mut self,
        cx: &mut Context<impl DeviceProbe>,
        die: Die,
    ) -> Slot {
        let now = cx.now;
        let pages = self.channels.of(die).command.pages;
        let sensed = if F::GENERAL && self.ahead.is_some() {
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

    /// Handles the end of a busy time of a die, or the signal of its R/B# pin. Returns the finished
    /// array operation, or the first transaction of the finished command, if any.
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
                if F::GENERAL && self.ahead.is_some() && self.brings(now, die, worked) {
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
                if F::CHAINS && self.has_page_conditions && self.table.goes_on(command, operation) {
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

/// Releases a die from its command, for good or during suspension (`pages` is then 0).
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
