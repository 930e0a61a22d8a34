//! What a probe hears of a device.

use wordline_kernel::Time;
use wordline_nand::{Die, Operation, Plane, Ppn};

/// What the host asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Read.
    Read,
    /// Write.
    Write,
}

/// Where the time of a request went. A request that touches several pages is described by the page
/// that was done last; the sum of the parts is the response time, exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// From arrival to admission to the device queue.
    pub host_queue: Time,
    /// Waiting for the die behind operations of the host, or for an earlier write of the page, or
    /// while the operation was suspended.
    pub die_wait: Time,
    /// Waiting for the channel's bus behind operations of the host.
    pub bus_wait: Time,
    /// Commands, addresses, data and status on the bus.
    pub bus: Time,
    /// The memory array at work, and the short busy times of commands for several planes.
    pub cell: Time,
    /// Waiting for the die or the bus behind garbage collection, or for a free block.
    pub gc: Time,
}

impl Parts {
    /// No time at all.
    pub const NONE: Self = Self {
        host_queue: Time::ZERO,
        die_wait: Time::ZERO,
        bus_wait: Time::ZERO,
        bus: Time::ZERO,
        cell: Time::ZERO,
        gc: Time::ZERO,
    };

    /// Adds what the request went through in `further`.
    #[inline]
    pub fn add(&mut self, further: &Self) {
        self.host_queue += further.host_queue;
        self.die_wait += further.die_wait;
        self.bus_wait += further.bus_wait;
        self.bus += further.bus;
        self.cell += further.cell;
        self.gc += further.gc;
    }
    /// The response time.
    #[inline]
    pub fn total(&self) -> Time {
        self.host_queue + self.in_device()
    }
    /// The time since admission.
    #[inline]
    pub fn in_device(&self) -> Time {
        self.die_wait + self.bus_wait + self.bus + self.cell + self.gc
    }
}

/// Something that happened in a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// A request has been admitted.
    Admitted {
        /// Requests in the device, with this one. Each leaves it as [`Observation::Request`].
        in_flight: u32,
    },
    /// A request is done.
    Request {
        /// What it was.
        op: Op,
        /// First byte.
        offset: u64,
        /// Length in bytes.
        bytes: u64,
        /// When the host issued it.
        arrival: Time,
        /// Where its time went.
        parts: Parts,
    },
    /// A bus was held until now.
    Bus {
        /// The channel.
        channel: u32,
        /// Since when.
        from: Time,
        /// The die that the bus phase was for.
        die: Die,
        /// What the die does.
        operation: Operation,
        /// By garbage collection.
        gc: bool,
    },
    /// The array of a plane has worked until now. An operation on several planes is heard once for
    /// each.
    Array {
        /// The page; for an erase the first of its block.
        place: Ppn,
        /// Since when.
        from: Time,
        /// At what.
        operation: Operation,
        /// For garbage collection.
        gc: bool,
    },
    /// A die was occupied until now, from the first command cycle to the last bus cycle; or until
    /// its operation was laid aside for reads, and after that again.
    Die {
        /// The die.
        die: Die,
        /// Since when.
        from: Time,
        /// By what.
        operation: Operation,
        /// Pages or blocks that are done with, on different planes; 0 if the operation is laid aside.
        pages: u32,
        /// Whether another die of the package was occupied at the same time.
        interleaved: bool,
        /// For garbage collection.
        gc: bool,
    },
    /// A host write of (part of) a page has been placed.
    PageWritten,
    /// A page was read from flash to complete a partial write.
    PageMerged,
    /// A page that was never written has been read: zeroes, without a flash operation.
    UnwrittenRead,
    /// A block has been collected and erased.
    Collected {
        /// Its plane.
        plane: Plane,
        /// Pages that were moved.
        moved: u32,
        /// When the collection started.
        from: Time,
    },
    /// The number of free blocks has changed.
    FreeBlocks {
        /// Free blocks of the whole device.
        free: u32,
    },
}
