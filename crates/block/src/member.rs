//! Events and observations of devices inside another device.

use serde::{Deserialize, Serialize};
use wordline_kernel::Digest;

use crate::device::Event;

/// Event or observation of a member device. Members of nested devices are numbered consecutively:
/// member `j` inside member `i` of `n` has the number `i + n * j` in the outer device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FromMember<T> {
    /// Number of the member.
    pub member: u32,
    /// Event or observation of the member.
    pub of: T,
}

impl<E: Event> Event for FromMember<E> {
    #[inline]
    fn mix(self, digest: &mut Digest) {
        digest.mix(self.member.into());
        self.of.mix(digest);
    }
}

/// Event of a device that can be wrapped as an event of an outer device, at any depth.
pub trait Nested: Event {
    /// Event of the outer device.
    type Wrapped: Event;
    /// Wraps the event as an event of member `member` of a device with `members` members.
    fn wrap(self, member: u32, members: u32) -> Self::Wrapped;
    /// Unwraps an event of the outer device into the number of the member and the member's event.
    fn unwrap(event: Self::Wrapped, members: u32) -> (u32, Self);
}

impl<E: Event> Nested for FromMember<E> {
    type Wrapped = Self;
    #[inline]
    fn wrap(self, member: u32, members: u32) -> Self {
        Self {
            member: member + members * self.member,
            of: self.of,
        }
    }
    #[inline]
    fn unwrap(event: Self, members: u32) -> (u32, Self) {
        let Self { member, of } = event;
        let inner = Self {
            member: member / members,
            of,
        };
        (member % members, inner)
    }
}
