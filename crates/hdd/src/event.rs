//! Events and observations of a disk.

use serde::{Deserialize, Serialize};
use wordline_block::{
    ArrayObservation, DeviceObservation, FromMember, LatencyComponents, MemberObservation, Nested,
    PowerCut, Request, RequestObservation, Ticket,
};
use wordline_kernel::{Digest, Time};

use crate::extent::{Extent, SECTOR_BYTES};
use crate::model::Access;

/// Event of a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The access of a request ended, but the request is not complete: its data is still on the
    /// bus, or the overhead of its completion has not ended.
    #[default]
    Accessed,
    /// The access of a request ended, and the request is complete.
    Served(Ticket),
    /// A request that no longer needs the mechanism, or never did, is complete.
    Complete(Ticket),
    /// A segment of the buffer has been destaged: its data is on the platters.
    Destaged(u32),
}

impl wordline_block::Event for Event {
    fn mix(self, digest: &mut Digest) {
        let (kind, number) = match self {
            Self::Accessed => (0, 0),
            Self::Served(ticket) => (1, ticket),
            Self::Complete(ticket) => (2, ticket),
            Self::Destaged(segment) => (3, segment),
        };
        digest.mix(kind << 32 | u64::from(number));
    }
}

impl Nested for Event {
    type Wrapped = FromMember<Self>;
    fn wrap(self, member: u32, _members: u32) -> FromMember<Self> {
        FromMember { member, of: self }
    }
    fn unwrap(event: FromMember<Self>, _members: u32) -> (u32, Self) {
        (event.member, event.of)
    }
}

/// Purpose of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Read for a host request.
    Read,
    /// Write for a host request that completes when its data is on the platters.
    Write,
    /// Destage of the write cache.
    Destage,
}

/// Operation of the mechanism, or of the buffer alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Purpose of the operation.
    pub purpose: Purpose,
    /// Sectors of the operation.
    pub extent: Extent,
    /// Command time in the controller. For an operation of the buffer alone, includes the
    /// completion time.
    pub overhead: Time,
    /// Components of the access time, after the command. An operation of the buffer alone has only
    /// the transfer over the bus.
    pub access: Access,
}

impl Work {
    /// Returns the offset of the first byte.
    pub fn offset(&self) -> u64 {
        self.extent.lbn * SECTOR_BYTES
    }
    /// Returns the length of the operation. Bytes.
    pub fn bytes(&self) -> u64 {
        self.extent.sectors * SECTOR_BYTES
    }
    /// Returns the duration of the operation.
    pub fn total(&self) -> Time {
        self.overhead + self.access.total()
    }
}

/// Observation of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// A request was submitted to the disk.
    Admitted {
        /// Outstanding requests, including this one. Count.
        held: u32,
    },
    /// A request completed.
    Request {
        /// Completed request.
        request: Request,
        /// Latency components.
        parts: LatencyComponents,
    },
    /// The mechanism starts an operation. This is a fragment of the observations of requests
    /// ([`wordline_kernel::Probe::WANTS_FRAGMENTS`]). The operation ends after [`Work::total`] with
    /// [`Observation::Over`], unless the power fails before.
    Begun(Work),
    /// Fragment: an operation of the mechanism ends now. Several may be in progress if requests do
    /// not wait for each other.
    Over,
    /// Fragment: the buffer serves a request without the mechanism, now or soon.
    Buffered {
        /// Start of the operation. The request completes after [`Work::total`], unless the power
        /// fails before.
        from: Time,
        /// Operation of the buffer.
        work: Work,
    },
    /// The power failed.
    PowerCut(PowerCut),
}

impl DeviceObservation for Observation {
    #[inline]
    fn of_requests(self) -> Option<RequestObservation> {
        match self {
            Self::Admitted { held } => Some(RequestObservation::Admitted { held }),
            Self::Request { request, parts } => {
                Some(RequestObservation::Request { request, parts })
            }
            Self::PowerCut(cut) => Some(RequestObservation::PowerCut(cut)),
            Self::Begun(_) | Self::Over | Self::Buffered { .. } => None,
        }
    }
}

impl wordline_block::GcObservation for Observation {
    fn collection_steps(&self) -> u32 {
        0
    }
}

impl MemberObservation for Observation {
    type Device = Self;
    fn wrap(self, member: u32, _members: u32) -> ArrayObservation<Self> {
        ArrayObservation::Device(FromMember { member, of: self })
    }
}
