//! What a disk schedules, and what a probe hears of it.

use serde::{Deserialize, Serialize};
use wordline_block::{Member, Nested, Parts, PowerCut, Request, Ticket};
use wordline_kernel::Digest;

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
    /// The power has failed.
    PowerCut(PowerCut),
}

impl wordline_block::Collecting for Observation {
    fn collection_steps(&self) -> u32 {
        0
    }
}
