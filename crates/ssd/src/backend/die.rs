//! State and usage of the dies.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use wordline_kernel::{BusyTime, Time};
use wordline_nand::Operation;

use super::transaction::NONE;
use crate::observation::PageComponents;
use wordline_io_scheduler::Slot;

/// Time for which GC, including rewrites, has used a shared resource.
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

/// A command that occupies a die.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct DieCommand {
    /// First transaction of the command; its field `next` links the others.
    pub(super) head: Slot,
    pub(super) operation: Operation,
    pub(super) gc: bool,
    pub(super) pages: u32,
    /// Whether the array is programming or erasing for the command, or is suspended while doing so.
    pub(super) under_way: bool,
    /// Whether another die of the package was occupied at the same time.
    pub(super) interleaved: bool,
    pub(super) began: Time,
    /// Time for which GC had used the die when the command started.
    pub(super) gc_before: Time,
    /// Start of the current uninterrupted occupation of the die.
    pub(super) since: Time,
    /// Start of the die's current busy time.
    pub(super) busy_since: Time,
    /// Time of the last suspension.
    pub(super) suspended_at: Time,
    /// Latency components of the command so far.
    pub(super) parts: PageComponents,
    /// Time for which GC had used the bus when the die requested it.
    pub(super) bus_gc: Time,
}

impl DieCommand {
    /// No command: the die is idle.
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
        parts: PageComponents::NONE,
        bus_gc: Time::ZERO,
    };

    /// Starts a command on a die that GC has used for `gc_before`. The other fields are set before
    /// their first use.
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
        self.parts = PageComponents::NONE;
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct DieState {
    pub(super) command: DieCommand,
    /// Suspended command of the die, if any.
    pub(super) suspended: Option<Box<DieCommand>>,
    pub(super) first: Slot,
    pub(super) last: Slot,
    /// Reads in the queue for which the host waits, in order; recorded only if they can overtake
    /// other operations.
    pub(super) reads: VecDeque<Slot>,
    pub(super) gc: GcClock,
    pub(super) usage: Usage,
    /// Occupied time up to the last release of the die.
    pub(super) occupied: Time,
}

impl DieState {
    /// Returns the occupied time since power-on.
    pub(super) fn busy(&self) -> BusyTime {
        let DieCommand { head, since, .. } = self.command;
        BusyTime::new(self.occupied, (head != NONE).then_some(since))
    }
}

/// Usage of a die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Array time of reads, programs and erases, summed over the planes that worked.
    pub array: [Time; 3],
    /// Time for which the bus was granted to the die.
    pub bus: Time,
    /// Time spent waiting for the bus, except by suspend and resume commands.
    pub bus_wait: Time,
    /// Array time of the commands, counted once per command for all its planes, and their short
    /// busy times.
    pub cell: Time,
}

wordline_kernel::since!(Usage: array, bus, bus_wait, cell);
wordline_kernel::plus!(Usage: array, bus, bus_wait, cell);
