//! What reads meet in the flash beside their data.

use serde::{Deserialize, Serialize};

/// What a read has met, as a set: each makes it wait, or read again (Jung 2013, section 5.4.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadEvents(u8);

impl ReadEvents {
    /// A page of it was read again, because its first read could not be corrected.
    pub const RETRY: Self = Self(1);
    /// Data was moving for its own sake on the die of a page of it when the flash was asked for that page (read reclaim, refresh).
    pub const RECLAIM: Self = Self(2);
    /// A block on the die of a page of it was being replaced by a spare one then.
    pub const BAD_BLOCK: Self = Self(4);
    /// All of them.
    pub const ALL: [Self; 3] = [Self::RETRY, Self::RECLAIM, Self::BAD_BLOCK];

    /// Nothing.
    #[inline]
    pub fn is_nothing(self) -> bool {
        self.0 == 0
    }
    /// Whether all of `other` is in it.
    #[inline]
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
    /// What is in one of the two.
    #[inline]
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// This if so, else nothing.
    #[must_use]
    pub fn only_if(self, so: bool) -> Self {
        if so { self } else { Self::default() }
    }
}
