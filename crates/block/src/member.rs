//! What devices inside another schedule and tell of.

use serde::{Deserialize, Serialize};
use wordline_kernel::Digest;

use crate::device::Event;

/// Something of one of the devices inside another. Members of members are numbered through: of member `i` of `n`,
/// what was member `j` inside it is `i + n * j` outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member<T> {
    /// Which member.
    pub member: u32,
    /// What it is.
    pub of: T,
}

impl<E: Event> Event for Member<E> {
    #[inline]
    fn mix(self, digest: &mut Digest) {
        digest.mix(self.member.into());
        self.of.mix(digest);
    }
}

/// An event of a device, as one of a member of a device outside, at any depth.
pub trait Nested: Event {
    /// The same, said by the device outside.
    type Outside: Event;
    /// As member `member` of `members` outside.
    fn outside(self, member: u32, members: u32) -> Self::Outside;
    /// The member, and its event, from what the device outside says.
    fn inside(event: Self::Outside, members: u32) -> (u32, Self);
}

impl<E: Event> Nested for Member<E> {
    type Outside = Self;
    #[inline]
    fn outside(self, member: u32, members: u32) -> Self {
        Self {
            member: member + members * self.member,
            of: self.of,
        }
    }
    #[inline]
    fn inside(event: Self, members: u32) -> (u32, Self) {
        let Self { member, of } = event;
        let inner = Self {
            member: member / members,
            of,
        };
        (member % members, inner)
    }
}
