//! Batches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Flushes;

/// Dirty pages gather until they fill a batch, or until somebody waits for memory; then the batch goes to the flash as a whole, in the order in which its pages
/// became dirty. The memory of all its pages comes back when the flash holds the last of them; the next batch fills meanwhile, and goes when the one before it is done. What has to be durable
/// (flushes, FUA, `write_through`) goes by itself, at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Batches {
    /// Size of a batch, in whole pages; half of the buffer at most. KiB.
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
