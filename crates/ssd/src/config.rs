//! The `[ssd]` table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_io_scheduler::{Composition, Scheduler};
use wordline_reliability::Ecc;

/// Wiring of the packages, scheduling and error correction (`[ssd]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ssd {
    /// Channels, each with its own bus. Count.
    #[schemars(range(min = 1, max = 1024))]
    pub channels: u32,
    /// Packages per channel; they share its bus. Count.
    #[schemars(range(min = 1, max = 1024))]
    pub ways: u32,
    /// Policy that combines operations waiting for a die into multi-plane commands.
    pub composition: Composition,
    /// Policy that orders the flash operations of the host on their way to the dies.
    pub scheduler: Scheduler,
    /// Error correction of pages (`nand.reliability`).
    pub ecc: Ecc,
}

impl Default for Ssd {
    fn default() -> Self {
        Self {
            channels: 8,
            ways: 4,
            composition: Composition::default(),
            scheduler: Scheduler::default(),
            ecc: Ecc::default(),
        }
    }
}
