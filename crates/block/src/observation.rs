//! Observations of devices, and of arrays and their members at any depth.

use crate::device::GcObservation;
use crate::latency::LatencyComponents;
use crate::member::FromMember;
use crate::power_cut::PowerCut;
use crate::request::Request;

/// Observation that every device reports about its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestObservation {
    /// A request was submitted to the device.
    Admitted {
        /// Outstanding requests, including this one. Count.
        held: u32,
    },
    /// A request completed.
    Request {
        /// Request that completed.
        request: Request,
        /// Latency components; their sum equals the response time exactly.
        parts: LatencyComponents,
    },
    /// The power failed.
    PowerCut(PowerCut),
}

/// Observation of a single device.
pub trait DeviceObservation: Copy {
    /// Returns the request or power cut that the observation reports; `None` for an internal
    /// observation of the device.
    fn of_requests(self) -> Option<RequestObservation>;
}

/// Observation of an array whose member devices report `T`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayObservation<T> {
    /// Observation of a member that is not an array. Its requests are parts of the array's
    /// requests, at addresses of the member.
    Device(FromMember<T>),
    /// The last part of a request completed, which completes the request.
    Request {
        /// Completed request, at addresses of the array.
        request: Request,
        /// Latency components of the last part; their sum equals the response time exactly.
        parts: LatencyComponents,
        /// Member that served the last part.
        member: u32,
        /// Nesting depth of the array: 0 for the device that the host addresses, 1 for a member of
        /// it or a device behind a cache that the host addresses, and so on.
        depth: u32,
    },
}

/// Observation of a device that can be a member of an array, at any depth.
pub trait MemberObservation: Copy {
    /// Observation of the innermost device.
    type Device: Copy;
    /// Wraps the observation as an observation of member `member` of an array of `members` members.
    fn wrap(self, member: u32, members: u32) -> ArrayObservation<Self::Device>;
}

impl<T: Copy> MemberObservation for ArrayObservation<T> {
    type Device = T;
    #[inline]
    fn wrap(self, member: u32, members: u32) -> Self {
        self.behind(member, members)
    }
}

impl<T> ArrayObservation<T> {
    /// Renumbers the observation as an observation of member `member` of an outer device with
    /// `members` members.
    #[inline]
    #[must_use]
    pub fn behind(self, member: u32, members: u32) -> Self {
        match self {
            Self::Device(FromMember { member: inner, of }) => Self::Device(FromMember {
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
