//! Point at which free blocks are compared with the GC threshold.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Point at which the free blocks of a plane are compared with the free-block threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// After each page that is allocated in the plane for the host, and after each GC run of the
    /// plane.
    #[default]
    EachPage,
    /// When the last page of the host's active block is taken. If the plane then has too few free
    /// blocks, GC reclaims one victim after another until it reaches the threshold, while the host
    /// continues in the next block. Page mapping only, without an SLC cache or allocation on issue.
    FullBlock,
}
