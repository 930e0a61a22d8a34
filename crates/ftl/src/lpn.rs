//! Logical page numbers.

use serde::{Deserialize, Serialize};

/// Number of a logical page.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Lpn(pub u32);

impl Lpn {
    /// Returns the number as an index into a dense array.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
