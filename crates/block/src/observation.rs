//! Observations of a device, and of an array and its members, at any depth.

use crate::device::GcObservation;
use crate::member::Member;
use crate::part::Parts;
use crate::power_cut::PowerCut;
use crate::request::Request;

/// What every device reports of the requests that come to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestObservation {
    /// A request has come in.
    Admitted {
        /// Requests that are not complete, with this one.
        held: u32,
    },
    /// A request is complete.
    Request {
        /// What was asked.
        request: Request,
        /// Where its time went; the sum is the response time, exactly.
        parts: Parts,
    },
    /// The power has failed.
    PowerCut(PowerCut),
}

/// An observation of a device by itself.
pub trait DeviceObservation: Copy {
    /// What it says of the requests of the device; `None` if it is of something inside the device.
    fn of_requests(self) -> Option<RequestObservation>;
}

/// Something that happened in an array of devices that `T` is heard of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayObservation<T> {
    /// Something happened in a device that is no array itself. The requests that it tells of are parts of the
    /// array's, at the addresses of the device.
    Device(Member<T>),
    /// The last part of a request is done, and with it the request.
    Request {
        /// What was asked, at the addresses of the array.
        request: Request,
        /// Where the time of the last part went; the sum is the response time, exactly.
        parts: Parts,
        /// The member that the last part went to.
        member: u32,
        /// The array: 0 is the one that the host talks to, 1 one that is a member of it or behind a cache that the host talks to, and
        /// so on.
        depth: u32,
    },
}

/// An observation of a device that can be a member of an array, at any depth.
pub trait MemberObservation: Copy {
    /// The device that it all begins with.
    type Device: Copy;
    /// As member `member` of `members` outside.
    fn outside(self, member: u32, members: u32) -> ArrayObservation<Self::Device>;
}

impl<T: Copy> MemberObservation for ArrayObservation<T> {
    type Device = T;
    #[inline]
    fn outside(self, member: u32, members: u32) -> Self {
        self.behind(member, members)
    }
}

impl<T> ArrayObservation<T> {
    /// The same of a member of something else.
    #[inline]
    #[must_use]
    pub fn behind(self, member: u32, members: u32) -> Self {
        match self {
            Self::Device(Member { member: inner, of }) => Self::Device(Member {
                member: member + members * inner,
                of,
            }),
            Self::Request {
                request,
                parts,
                member: inner,
                depth,
            } => Self::Request {
                request,
                parts,
                member: inner,
                depth: depth + 1,
            },
        }
    }
}

impl<T: GcObservation> GcObservation for ArrayObservation<T> {
    fn collection_steps(&self) -> u32 {
        match self {
            Self::Device(heard) => heard.of.collection_steps(),
            Self::Request { .. } => 0,
        }
    }
}
