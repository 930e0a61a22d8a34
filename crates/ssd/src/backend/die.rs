//! What each die is at, and what it has been used for.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use wordline_kernel::{BusyTime, Time};
use wordline_nand::Operation;

use super::transaction::NONE;
use crate::observation::PageParts;
use wordline_io_scheduler::Slot;

/// Time that a shared thing was held for garbage collection.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct GcClock {
    pub(super) total: Time,
    pub(super) since: Time,
    pub(super) running: bool,
}

impl GcClock {
    #[inline]
    pub(super) fn start(&mut self, now: Time, gc: bool) {
        self.since = now;
        self.running = gc;
    }
    #[inline]
    pub(super) fn stop(&mut self, now: Time) {
        if self.running {
            self.total += now - self.since;
            self.running = false;
        }
    }
    #[inline]
    pub(super) fn read(&self, now: Time) -> Time {
        if self.running {
            self.total + (now - self.since)
        } else {
            self.total
        }
    }
}

/// A command that a die is at.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct DieCommand {
    /// Its first transaction; the others follow by `next`.
    pub(super) head: Slot,
    pub(super) operation: Operation,
    pub(super) gc: bool,
    pub(super) pages: u32,
    /// Whether the array is programming or erasing for it.
    pub(super) under_way: bool,
    /// Whether another die of the package was occupied at the same time.
    pub(super) interleaved: bool,
    pub(super) began: Time,
    /// How long collection had had the die then.
    pub(super) gc_before: Time,
    /// Since when the die has been occupied without a break.
    pub(super) since: Time,
    /// Since when the die has been busy.
    pub(super) busy_since: Time,
    /// When it was laid suspended last.
    pub(super) suspended_at: Time,
    /// Where its time went.
    pub(super) parts: PageParts,
    /// Collection's share of the bus when the die asked for it.
    pub(super) bus_gc: Time,
}

impl DieCommand {
    /// No command.
    pub(super) const IDLE: Self = Self {
        head: NONE,
        operation: Operation::Read,
        gc: false,
        pages: 0,
        under_way: false,
        interleaved: false,
        began: Time::ZERO,
        gc_before: Time::ZERO,
        since: Time::ZERO,
        busy_since: Time::ZERO,
        suspended_at: Time::ZERO,
        parts: PageParts::NONE,
        bus_gc: Time::ZERO,
    };

    /// A die, which collection has had for `gc_before`, is given to a command: what is not set here is set when it first counts.
    #[inline]
    pub(super) fn begin(
        &mut self,
        (now, gc_before): (Time, Time),
        head: Slot,
        operation: Operation,
        gc: bool,
        pages: u32,
    ) {
        self.head = head;
        self.operation = operation;
        self.gc = gc;
        self.pages = pages;
        self.under_way = false;
        self.interleaved = false;
        self.began = now;
        self.gc_before = gc_before;
        self.since = now;
        self.parts = PageParts::NONE;
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct DieState {
    pub(super) command: DieCommand,
    /// A command laid suspended for reads.
    pub(super) suspended: Option<Box<DieCommand>>,
    pub(super) first: Slot,
    pub(super) last: Slot,
    /// Reads of the host in the queue, in order; kept if they can pass other operations.
    pub(super) reads: VecDeque<Slot>,
    pub(super) gc: GcClock,
    pub(super) usage: Usage,
    /// How long it was occupied, up to the last time it was left.
    pub(super) occupied: Time,
}

impl DieState {
    /// How long it has been occupied since the power came.
    pub(super) fn busy(&self) -> BusyTime {
        let DieCommand { head, since, .. } = self.command;
        BusyTime::new(self.occupied, (head != NONE).then_some(since))
    }
}

/// What a die has been used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Array time summed over the planes that worked: reads, programs, erases.
    pub array: [Time; 3],
    /// Bus time.
    pub bus: Time,
    /// Waiting for the bus.
    pub bus_wait: Time,
    /// Array time of its commands, however many planes worked, and their short busy times.
    pub cell: Time,
}

wordline_kernel::since!(Usage: array, bus, bus_wait, cell);

impl Usage {
    /// This and more of the same die.
    #[must_use]
    pub fn plus(&self, more: &Self) -> Self {
        let mut all = *self;
        for (time, more) in all.array.iter_mut().zip(more.array) {
            *time += more;
        }
        all.bus += more.bus;
        all.bus_wait += more.bus_wait;
        all.cell += more.cell;
        all
    }
}
