//! Refresh, which moves the data of a block that was read too often or programmed too long ago
//! (`[ftl.refresh]`).

pub mod target;

pub use target::{Return, Target};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Refresh of data in blocks that were read too often or programmed too long ago
/// (`nand.reliability.read_limit` and `refresh_days`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Refresh {
    /// Block to which the data is moved.
    pub target: Target,
    /// Points at which a refresh yields to host requests that wait for its die. `schedule`: those
    /// that `ftl.gc.schedule` defines for GC. `page`: between two flash operations. `block`: none;
    /// a request waits for the operations that were queued before it, as in on-demand GC.
    pub steps: Steps,
}

/// Points at which a refresh yields to host requests that wait for its die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Steps {
    /// As `ftl.gc.schedule` specifies for GC.
    #[default]
    Schedule,
    /// After each flash operation on a page: host requests are served first until the plane's free
    /// blocks are down to the reserve, or a write waits for the refresh.
    Page,
    /// None, as in on-demand GC: all reads of the block are queued at once, and each copy when its
    /// page has been read. A request waits for the operations queued before it.
    Block,
}
