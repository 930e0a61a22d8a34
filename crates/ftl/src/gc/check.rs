//! When free blocks are compared with the threshold of garbage collection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When the free blocks of a plane are compared with the threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// After each page that is placed in the plane for the host, and after each collection of the plane.
    #[default]
    EachPage,
    /// When the open block of the host has taken its last page. If too few blocks of the plane are free then, it collects one victim after
    /// another until as many are free as the threshold asks for; the host continues in the next block meanwhile. Page mapping only.
    FullBlock,
}
