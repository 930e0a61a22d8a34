//! Observations of a device.

use wordline_block::{
    ArrayObservation, DeviceObservation, FromMember, LatencyComponents, MemberObservation,
    PowerCut, ReadEvents, Request, RequestObservation,
};
use wordline_ftl::gc::schedule::Trigger;
use wordline_ftl::{GcKind, Programmed};
use wordline_kernel::{Probe, Time};
use wordline_nand::{Die, Operation, Plane, Ppn};

pub use wordline_block::PageComponents;

/// A probe of device observations.
pub trait DeviceProbe: Probe<Observation> {}

impl<P: Probe<Observation>> DeviceProbe for P {}

/// An observation of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// A request starts in the device: its command, and the data of a write or TRIM, have arrived.
    Admitted {
        /// Requests in progress, including this one. Each ends with an [`Observation::Request`],
        /// unless a power cut loses it.
        in_flight: u32,
    },
    /// A request is complete.
    Request {
        /// Completed request.
        request: Request,
        /// Latency components of the request.
        parts: LatencyComponents,
        /// Whether the request ended with an error.
        failed: bool,
    },
    /// A read is complete. Reported only by devices with page conditions
    /// ([`crate::Plan::has_page_conditions`]).
    Read {
        /// Events that delayed the read.
        met: ReadEvents,
        /// Response time of the read.
        response: Time,
    },
    /// A bus grant ends now.
    Bus {
        /// Number of the channel.
        channel: u32,
        /// Start of the grant.
        from: Time,
        /// Die for which the bus was granted.
        die: Die,
        /// Operation for which the bus was granted.
        operation: Operation,
        /// Whether the operation is for GC or a rewrite.
        gc: bool,
    },
    /// The array of a plane has worked until now. An operation on several planes is reported once
    /// per plane, and a suspended one also at each suspension, to probes that want fragments
    /// ([`wordline_kernel::Probe::WANTS_FRAGMENTS`]).
    Array {
        /// Page, or the first page of the block for an erase.
        place: Ppn,
        /// Start of the work.
        from: Time,
        /// Operation of the array.
        operation: Operation,
        /// Whether the operation is for GC or a rewrite.
        gc: bool,
    },
    /// A die was occupied until now by an operation, which includes waits for the bus. A suspended
    /// operation is reported at each suspension and at its end.
    Die {
        /// Die that was occupied.
        die: Die,
        /// Start of the occupation.
        from: Time,
        /// Operation that occupied the die.
        operation: Operation,
        /// Pages or blocks on which the array has finished its work, on different planes. 0 if the
        /// operation is suspended, is a read-ahead that was aborted, or takes a page that was read
        /// ahead.
        pages: u32,
        /// Whether another die of the package was occupied at the same time.
        interleaved: bool,
        /// Whether the operation is for GC or a rewrite.
        gc: bool,
    },
    /// Observation of the DRAM buffer.
    Buffer(wordline_dram_buffer::Observation),
    /// Whole or partial pages have been allocated for writes of the host, or of the DRAM buffer if
    /// there is one.
    PagesWritten {
        /// Number of pages allocated.
        pages: u32,
    },
    /// Bytes have been programmed. Programs that a power cut interrupts do not count.
    Programmed {
        /// Purpose of the program.
        of: Programmed,
        /// Bytes programmed.
        bytes: u64,
    },
    /// A die starts to read a page ahead, or a read takes a page that was read ahead from the data
    /// register.
    ReadAhead {
        /// Whether a read takes the page; otherwise a die starts to read it.
        used: bool,
    },
    /// A page is being read from flash to complete a partial write.
    PageMerged,
    /// A page that was never written, or was trimmed, has been read. The read returns zeroes
    /// without a flash operation.
    UnwrittenRead,
    /// A GC run has ended.
    Collected {
        /// Plane of the GC run.
        plane: Plane,
        /// Kind of the GC run.
        kind: GcKind,
        /// Trigger of the run.
        trigger: Trigger,
        /// Pages moved by the run. Count.
        moved: u32,
        /// Blocks erased by the run. Count.
        erased: u32,
        /// Start of the run.
        from: Time,
    },
    /// A TRIM has started.
    TrimBegun {
        /// Pages that the TRIM covers in full.
        pages: u64,
    },
    /// The host has discarded a page, which need not have held data.
    PageTrimmed,
    /// A metadata page of the mapping is being read or programmed: a part of the map, a record of
    /// erases or dead pages, the summary of a block, or padding of a block.
    MetadataPage {
        /// Whether the page is programmed.
        program: bool,
    },
    /// A free block has replaced a full update block.
    Replaced,
    /// A block has gone bad.
    BlockRetired {
        /// Whether a spare block has replaced the block.
        replaced: bool,
    },
    /// Pages needed read retries.
    Retried {
        /// Retries since the last observation of this kind.
        retries: u32,
    },
    /// Power was cut and restored, and the device has recovered. It is ready after
    /// [`PowerCut::time`].
    PowerCut(PowerCut),
    /// The number of free blocks has changed.
    FreeBlocks {
        /// Free blocks of the device.
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
    fn wrap(self, member: u32, _members: u32) -> ArrayObservation<Self> {
        ArrayObservation::Device(FromMember { member, of: self })
    }
}
