//! What a disk schedules, and what a probe hears of it.

use serde::{Deserialize, Serialize};
use wordline_block::{
    ArrayObservation, DeviceObservation, Member, MemberObservation, Nested, Parts, PowerCut,
    Request, RequestObservation, Ticket,
};
use wordline_kernel::{Digest, Time};

use crate::extent::{Extent, SECTOR_BYTES};
use crate::model::Access;

/// Something of a disk is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The access of a request, which is not complete yet.
    #[default]
    Accessed,
    /// The access of a request, which is complete with it.
    Served(Ticket),
    /// A request, which needs the mechanism no more or never has.
    Complete(Ticket),
    /// The data of a segment of the buffer is on the platters.
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
    type Outside = Member<Self>;
    fn outside(self, member: u32, _members: u32) -> Member<Self> {
        Member { member, of: self }
    }
    fn inside(event: Member<Self>, _members: u32) -> (u32, Self) {
        (event.member, event.of)
    }
}

/// What the mechanism is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A read of the host's.
    Read,
    /// A write of the host's, which is complete when its data is on the platters.
    Write,
    /// Data of the write cache goes to the platters.
    Destage,
}

/// The mechanism, or the buffer by itself, at work for one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// For what.
    pub purpose: Purpose,
    /// The sectors.
    pub extent: Extent,
    /// Time of the command in the controller.
    pub overhead: Time,
    /// Where the time behind that goes; of the buffer by itself, the transfer is that over the bus.
    pub access: Access,
}

impl Work {
    /// Its first byte.
    pub fn offset(&self) -> u64 {
        self.extent.lbn * SECTOR_BYTES
    }
    /// How many bytes.
    pub fn bytes(&self) -> u64 {
        self.extent.sectors * SECTOR_BYTES
    }
    /// How long it takes.
    pub fn total(&self) -> Time {
        self.overhead + self.access.total()
    }
}

/// Something that happened in a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// A request has come in.
    Admitted {
        /// Requests that the disk holds, with this one.
        held: u32,
    },
    /// A request is complete.
    Request {
        /// What was asked.
        request: Request,
        /// Where its time went.
        parts: Parts,
    },
    /// The mechanism goes to work, a piece of what is told of requests ([`wordline_kernel::Probe::WANTS_FRAGMENTS`]). It is over after [`Work::total`], and then heard of as [`Observation::Over`]; not if the power fails
    /// before.
    Begun(Work),
    /// A piece, too: work of the mechanism that was to end now is over; where requests do not wait for each other, one of several maybe.
    Over,
    /// A piece, too: the buffer serves a request by itself, now or soon.
    Buffered {
        /// When it begins. After [`Work::total`] the request is complete, unless the power fails before.
        from: Time,
        /// What it does.
        work: Work,
    },
    /// The power has failed.
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
    fn outside(self, member: u32, _members: u32) -> ArrayObservation<Self> {
        ArrayObservation::Device(Member { member, of: self })
    }
}
