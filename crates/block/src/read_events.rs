//! Flash events that delayed a read.

use serde::{Deserialize, Serialize};

/// Set of flash events that delayed a read: retry, read reclaim or refresh, bad-block replacement
/// (Jung 2013, section 5.4.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadEvents(u8);

impl ReadEvents {
    /// A page was read again, because its first read could not be corrected.
    pub const RETRY: Self = Self(1);
    /// When a page was requested from the flash, its die was moving data for read reclaim or
    /// refresh.
    pub const RECLAIM: Self = Self(2);
    /// When a page was requested from the flash, a bad block of its die was being replaced.
    pub const BAD_BLOCK: Self = Self(4);
    /// All events.
    pub const ALL: [Self; 3] = [Self::RETRY, Self::RECLAIM, Self::BAD_BLOCK];

    /// Returns `true` if the set is empty.
    #[inline]
    pub fn is_nothing(self) -> bool {
        self.0 == 0
    }
    /// Returns `true` if the set includes all of `other`.
    #[inline]
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
    /// Returns the union of both sets.
    #[inline]
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// Returns the set itself if `so` is `true`, otherwise the empty set.
    #[must_use]
    pub fn only_if(self, so: bool) -> Self {
        if so { self } else { Self::default() }
    }
}
