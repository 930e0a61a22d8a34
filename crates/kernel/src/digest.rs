//! Digest of all events of a run.

use serde::{Deserialize, Serialize};

/// Order-sensitive 64-bit digest, cheap enough for every run.
///
/// Runs that process the same events at the same times have the same digest. It is not
/// cryptographic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0x243f_6a88_85a3_08d3)
    }
}

impl Digest {
    /// Mixes one word into the digest.
    #[inline]
    pub fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    /// Returns the current value of the digest.
    pub const fn value(self) -> u64 {
        self.0
    }
}
