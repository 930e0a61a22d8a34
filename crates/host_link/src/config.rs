//! The `[host]` table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Interface;

/// Host interface and queue depth (`[host]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Host {
    /// Maximum number of requests that the device holds at once. Further requests wait outside the
    /// device: with `nvme` in the submission queues of their streams, with the other interfaces
    /// first come, first served. Count.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub queue_depth: u32,
    /// Host interface, which transfers requests and their data.
    pub interface: Interface,
}

impl Default for Host {
    fn default() -> Self {
        Self {
            queue_depth: 32,
            interface: Interface::default(),
        }
    }
}
