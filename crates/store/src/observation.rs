//! What a probe hears of an array.

use wordline_block::{Collecting, Member, Parts, Request};

/// Something that happened in an array of devices that `T` is heard of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation<T> {
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

/// What is heard of a device, as something of a member of an array, at any depth.
pub trait Heard: Copy {
    /// The device that it all begins with.
    type Device: Copy;
    /// As member `member` of `members` outside.
    fn outside(self, member: u32, members: u32) -> Observation<Self::Device>;
}

impl Heard for wordline_device::Observation {
    type Device = Self;
    #[inline]
    fn outside(self, member: u32, _members: u32) -> Observation<Self> {
        Observation::Device(Member { member, of: self })
    }
}

impl Heard for wordline_disk::Observation {
    type Device = Self;
    fn outside(self, member: u32, _members: u32) -> Observation<Self> {
        Observation::Device(Member { member, of: self })
    }
}

impl<T: Copy> Heard for Observation<T> {
    type Device = T;
    #[inline]
    fn outside(self, member: u32, members: u32) -> Self {
        self.behind(member, members)
    }
}

impl<T> Observation<T> {
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

impl<T: Collecting> Collecting for Observation<T> {
    fn collection_steps(&self) -> u32 {
        match self {
            Self::Device(heard) => heard.of.collection_steps(),
            Self::Request { .. } => 0,
        }
    }
}
