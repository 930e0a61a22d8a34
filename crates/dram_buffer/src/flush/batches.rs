//! Destaging in batches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Flushes;

/// Dirty pages are collected until they fill a batch, or until a page waits for memory. The batch
/// is then destaged as a whole, in the order in which its pages became dirty. Its memory is freed
/// only when the flash holds all its pages. The next batch fills in the meantime, and is destaged
/// after the previous one is done. Data that must be durable (flushes, FUA, `write_through`) is
/// destaged separately and at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Batches {
    /// Size of a batch, rounded down to whole pages; at most half of the buffer. KiB.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub batch_kib: u32,
}

impl Default for Batches {
    fn default() -> Self {
        Self { batch_kib: 1024 }
    }
}

impl Cited for Batches {
    const PAPER: &'static str = "";
}

impl Flushes for Batches {
    fn batch_bytes(&self) -> Option<u64> {
        Some(u64::from(self.batch_kib) * 1024)
    }
}
