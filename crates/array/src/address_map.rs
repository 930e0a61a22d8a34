//! Address map of an array.

use serde::{Deserialize, Serialize};

/// Contiguous bytes of one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Number of the member.
    pub member: u32,
    /// Offset of the first byte on the member. Bytes.
    pub offset: u64,
    /// Length of the extent. Bytes.
    pub bytes: u64,
}

/// Mapping of array addresses to members.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AddressMap {
    /// RAID-0: stripes of equal length go to the members in turn.
    Striped {
        /// Length of a stripe. Bytes.
        stripe_bytes: u64,
        /// Number of members of the array.
        members: u64,
        /// Bytes that the host can address.
        user_bytes: u64,
    },
    /// The members are concatenated in order.
    Concatenated {
        /// End of each member, exclusive. Bytes.
        ends: Vec<u64>,
    },
}

impl AddressMap {
    /// Creates stripes over members of these sizes, of which there must be at least one. Space
    /// beyond the size of the smallest member, and a last incomplete stripe, is unused on every
    /// member. A single member is used completely.
    pub fn striped(stripe_bytes: u64, sizes: &[u64]) -> Self {
        let members = sizes.len() as u64;
        let least = sizes.iter().copied().min().unwrap_or_default();
        let user_bytes = match sizes {
            [single] => *single,
            _ => least / stripe_bytes * stripe_bytes * members,
        };
        Self::Striped {
            stripe_bytes,
            members,
            user_bytes,
        }
    }
    /// Concatenates members of these sizes, of which there must be at least one.
    pub fn concatenated(sizes: &[u64]) -> Self {
        let ends = sizes.iter().scan(0, |end, size| {
            *end += size;
            Some(*end)
        });
        Self::Concatenated {
            ends: ends.collect(),
        }
    }
    /// Returns the number of bytes that the host can address.
    pub fn user_bytes(&self) -> u64 {
        match self {
            Self::Striped { user_bytes, .. } => *user_bytes,
            Self::Concatenated { ends } => ends.last().copied().unwrap_or_default(),
        }
    }
    /// Returns the member of the byte at `offset`, and the byte's offset there; `None` beyond the
    /// end.
    #[inline]
    pub fn at(&self, offset: u64) -> Option<(u32, u64)> {
        if offset >= self.user_bytes() {
            return None;
        }
        match self {
            Self::Striped {
                stripe_bytes,
                members,
                ..
            } => {
                let stripe = offset / stripe_bytes;
                let start = stripe / members * stripe_bytes;
                Some(((stripe % members) as u32, start + offset % stripe_bytes))
            }
            Self::Concatenated { ends } => {
                let member = ends.partition_point(|end| *end <= offset);
                let before = member.checked_sub(1).map_or(0, |before| ends[before]);
                Some((member as u32, offset - before))
            }
        }
    }
    /// Splits `bytes` bytes (at least one) from `offset` into one extent for each member that they
    /// touch; successive stripes of a request are contiguous on a member. Replaces the content of
    /// `extents`, in the order in which the bytes reach the members.
    #[inline]
    pub fn split(&self, offset: u64, bytes: u64, extents: &mut Vec<Extent>) {
        extents.clear();
        match self {
            Self::Striped {
                stripe_bytes,
                members,
                ..
            } => striped(*stripe_bytes, *members, offset, bytes, extents),
            Self::Concatenated { ends } => concatenated(ends, offset, bytes, extents),
        }
    }
}

fn striped(stripe: u64, members: u64, offset: u64, bytes: u64, extents: &mut Vec<Extent>) {
    let end = offset + bytes;
    let (first, last) = (offset / stripe, (end - 1) / stripe);
    for mine in first..=last.min(first + members - 1) {
        let behind = last - (last - mine) % members;
        let from = if mine == first { offset % stripe } else { 0 };
        let until = if behind == last {
            end - last * stripe
        } else {
            stripe
        };
        let start = mine / members * stripe + from;
        extents.push(Extent {
            member: (mine % members) as u32,
            offset: start,
            bytes: behind / members * stripe + until - start,
        });
    }
}

fn concatenated(ends: &[u64], offset: u64, bytes: u64, extents: &mut Vec<Extent>) {
    let (mut from, until) = (offset, offset + bytes);
    let mut member = ends.partition_point(|end| *end <= from);
    while from < until && member < ends.len() {
        let start = if member > 0 { ends[member - 1] } else { 0 };
        let end = until.min(ends[member]);
        extents.push(Extent {
            member: member as u32,
            offset: from - start,
            bytes: end - from,
        });
        from = end;
        member += 1;
    }
}
