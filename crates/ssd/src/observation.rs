//! What a probe hears of a device.

use wordline_block::{
    ArrayObservation, DeviceObservation, Member, MemberObservation, Parts, PowerCut, ReadEvents,
    Request, RequestObservation,
};
use wordline_ftl::GcKind;
use wordline_ftl::gc::schedule::Trigger;
use wordline_kernel::{Probe, Time};
use wordline_nand::{Die, Operation, Plane, Ppn};

pub use wordline_block::PageParts;

use crate::programmed::Programmed;

/// A probe that hears of a device.
pub trait DeviceProbe: Probe<Observation> {}

impl<P: Probe<Observation>> DeviceProbe for P {}

/// Something that happened in a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// A request begins in the device: its command, and its data if it is a write, is there.
    Admitted {
        /// Requests that have begun and are not done, with this one. Each is heard of again as
        /// [`Observation::Request`].
        in_flight: u32,
    },
    /// A request is complete.
    Request {
        /// What was asked.
        request: Request,
        /// Where its time went.
        parts: Parts,
        /// Whether it ended with an error.
        failed: bool,
    },
    /// A read is complete, of a device in which it may have met something.
    Read {
        /// What it has met.
        met: ReadEvents,
        /// Its response time.
        response: Time,
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
    /// each, by probes that hear pieces ([`wordline_kernel::Probe::WANTS_FRAGMENTS`]).
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
    /// its operation was suspended for reads, and after that again.
    Die {
        /// The die.
        die: Die,
        /// Since when.
        from: Time,
        /// By what.
        operation: Operation,
        /// Pages or blocks that are done with, on different planes; 0 if the operation is suspended.
        pages: u32,
        /// Whether another die of the package was occupied at the same time.
        interleaved: bool,
        /// For garbage collection.
        gc: bool,
    },
    /// Something has happened in the DRAM buffer.
    Buffer(wordline_dram_buffer::Observation),
    /// Writes of (parts of) pages have been placed: of the host, or of the DRAM buffer if there is one.
    PagesWritten {
        /// How many.
        pages: u32,
    },
    /// Bytes have been programmed. Programs that a power cut interrupts are not among them.
    Programmed {
        /// Purpose of the program.
        of: Programmed,
        /// Bytes programmed.
        bytes: u64,
    },
    /// A die reads a page that nobody has asked for, or a page is asked for that is in its data register.
    ReadAhead {
        /// Whether it is asked for.
        used: bool,
    },
    /// A page was read from flash to complete a partial write.
    PageMerged,
    /// A page that was never written has been read: zeroes, without a flash operation.
    UnwrittenRead,
    /// A collection is over.
    Collected {
        /// Its plane.
        plane: Plane,
        /// How it gained room.
        kind: GcKind,
        /// What it was started for.
        trigger: Trigger,
        /// Pages that were moved.
        moved: u32,
        /// Blocks that were erased.
        erased: u32,
        /// When the collection started.
        from: Time,
    },
    /// A TRIM has begun.
    TrimBegun {
        /// Pages that it covers as a whole.
        pages: u64,
    },
    /// The host has discarded a page that held something, or not.
    PageTrimmed,
    /// A page that the mapping keeps for itself has been read or is being programmed: a part of the
    /// map, or the record of an erase.
    MetadataPage {
        /// Whether it is programmed.
        program: bool,
    },
    /// A free block has taken the place of a full update block.
    Replaced,
    /// A block has gone bad.
    BlockRetired {
        /// Whether a spare block has taken its place.
        replaced: bool,
    },
    /// Pages had to be read again before they could be corrected.
    Retried {
        /// Further reads since this was heard of last.
        retries: u32,
    },
    /// The power has failed and come back, and the device has recovered: it is ready after
    /// [`PowerCut::time`].
    PowerCut(PowerCut),
    /// The number of free blocks has changed.
    FreeBlocks {
        /// Free blocks of the whole device.
        free: u32,
    },
}

impl DeviceObservation for Observation {
    #[inline]
    fn of_requests(self) -> Option<RequestObservation> {
        match self {
            Self::Admitted { in_flight } => Some(RequestObservation::Admitted { held: in_flight }),
            Self::Request { request, parts, .. } => {
                Some(RequestObservation::Request { request, parts })
            }
            Self::PowerCut(cut) => Some(RequestObservation::PowerCut(cut)),
            _ => None,
        }
    }
}

impl wordline_block::GcObservation for Observation {
    #[inline]
    fn collection_steps(&self) -> u32 {
        match self {
            Self::Die {
                pages, gc: true, ..
            } => *pages,
            _ => 0,
        }
    }
}

impl MemberObservation for Observation {
    type Device = Self;
    #[inline]
    fn outside(self, member: u32, _members: u32) -> ArrayObservation<Self> {
        ArrayObservation::Device(Member { member, of: self })
    }
}
