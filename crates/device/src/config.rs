//! The `[ssd]` and `[host]` tables.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::compose::Composition;
use crate::host::Interface;
use crate::schedule::Scheduler;

/// How packages are wired (`[ssd]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ssd {
    /// Channels: buses that work side by side. Count.
    pub channels: u32,
    /// Packages on a channel; they share its bus. Count.
    pub ways: u32,
    /// Which operations that wait for a die become one command on several planes.
    pub composition: Composition,
    /// Which flash operations of the host go to their dies next.
    pub scheduler: Scheduler,
}

impl Default for Ssd {
    fn default() -> Self {
        Self {
            channels: 8,
            ways: 4,
            composition: Composition::default(),
            scheduler: Scheduler::default(),
        }
    }
}

/// What the host sees (`[host]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Host {
    /// Requests the device holds at once; further ones wait outside, first come, first served. Count.
    pub queue_depth: u32,
    /// How requests and their data cross between the host and the device.
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
