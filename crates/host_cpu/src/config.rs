//! The `[host_side]` table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::architecture::Architecture;

/// Host CPU model (`[host_side]`): CPU time of requests on the host, and the location of the FTL.
/// Each stream (`[[streams]]`) has a worker thread, which runs one job at a time. Without this
/// table the host takes no time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Number of cores that the worker threads and the flash software share. Ready threads run
    /// first come, first served. Count.
    #[schemars(range(min = 1, max = 1024))]
    pub cores: u32,
    /// CPU time of a worker to submit a request. Nanoseconds.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub submit_ns: u64,
    /// CPU time of a worker to submit a request, in addition to `submit_ns`, under the lock that
    /// all workers and the flash software share. Nanoseconds.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub locked_ns: u64,
    /// CPU time of a worker to handle a completion. Nanoseconds.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub complete_ns: u64,
    /// Location of the FTL, and what is between the CPU and the store.
    pub architecture: Architecture,
}

impl Config {
    /// Returns the number of bytes at the start of the store that the host reserves.
    pub fn reserved(&self, store_bytes: u64) -> u64 {
        match &self.architecture {
            Architecture::FlashSoftware(policy) => {
                policy.mapping.reserved(policy.region(store_bytes))
            }
            Architecture::Direct(_) | Architecture::Bridge(_) => 0,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            cores: 4,
            submit_ns: 2_000,
            locked_ns: 0,
            complete_ns: 2_000,
            architecture: Architecture::default(),
        }
    }
}
