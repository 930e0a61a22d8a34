//! Refresh: moves the data of a block that was read too often or programmed too long ago
//! (`[ftl.refresh]`).

pub mod target;

pub use target::{Return, Target};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Refresh of the data of blocks that were read too often or programmed too long ago
/// (`nand.reliability.read_limit` and `refresh_days`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Refresh {
    /// Target of the data.
    pub target: Target,
    /// Points at which a refresh yields to host requests that wait for its die.
    pub steps: Steps,
}

/// Points at which a refresh yields to host requests that wait for its die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Steps {
    /// As `ftl.gc.schedule` specifies for GC.
    #[default]
    Schedule,
    /// After each flash operation on a page: the host goes first until the plane's free blocks are
    /// down to the reserve, or a write waits for the refresh.
    Page,
    /// As in on-demand GC: all reads of the block are queued at once, and each copy when its page
    /// has been read; a request waits for the operations queued before it.
    Block,
}
