//! Keys by small dense numbers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A key that a cache knows, by a small number. Numbers are dense; the owner gives them.
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
    /// Numbers are smaller than this: links of lists have 28 bits.
    pub const LIMIT: u32 = (1 << 28) - 16;

    /// The number, as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
