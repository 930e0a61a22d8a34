//! The `[host_side]` table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::architecture::Architecture;

/// The host side of the store (`[host_side]`): what requests take on the CPU of the host, and where flash software runs. Each stream
/// (`[[streams]]`) is a worker thread, which does one thing at a time; without the table the host takes no time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Cores that the workers and the flash software share; who is ready first runs first. Count.
    #[schemars(range(min = 1, max = 1024))]
    pub cores: u32,
    /// CPU time of a worker to submit a request. Nanoseconds.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub submit_ns: u64,
    /// CPU time of a worker, behind that, under the one lock that all workers and the flash software share. Nanoseconds.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub locked_ns: u64,
    /// CPU time of a worker to take a completion. Nanoseconds.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub complete_ns: u64,
    /// Where mapping and collection of the flash live, and what stands between the CPU and the store.
    pub architecture: Architecture,
}

impl Config {
    /// Bytes of the store that the host keeps for itself, at its beginning.
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
