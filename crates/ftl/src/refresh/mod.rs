//! How a block's data moves that was read too often, or has lain too long (`[ftl.refresh]`).

pub mod target;

pub use target::{Return, Target};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a block's data moves that was read too often, or has lain too long (`nand.reliability.read_limit` and `refresh_days`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Refresh {
    /// Where it goes.
    pub target: Target,
    /// What the requests of the host that wait for its die come between.
    pub steps: Steps,
}

/// What the requests of the host that wait for the die of a refresh come between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Steps {
    /// What `ftl.gc.schedule` has them come between in other collections.
    #[default]
    Schedule,
    /// Flash operations, each on one page: between two of them the host goes first, until the free blocks of the plane are down to the
    /// reserve or a write waits for the refresh.
    Page,
    /// As in a collection on demand: all reads of the block are queued at once and each copy when its page has been read; a request waits
    /// behind those that are queued when it arrives.
    Block,
}
