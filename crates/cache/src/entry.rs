//! Small dense numbers that represent keys.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Key of a cache, represented by a small number. Numbers are dense; the owner assigns them.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(transparent)]
pub struct Entry(pub u32);

impl Entry {
    /// Upper bound of the numbers, exclusive: list links have 28 bits.
    pub const LIMIT: u32 = (1 << 28) - 16;

    /// Returns the number as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
