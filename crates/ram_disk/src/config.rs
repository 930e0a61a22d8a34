//! The `[ram]` table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// RAM disk (`[ram]`): a block device in DRAM. A request takes a fixed overhead plus a time per
/// byte. A battery preserves the data in power cuts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Capacity that the host can address; a multiple of 512. Bytes.
    #[schemars(range(min = 512, max = 1_000_000_000_000_000_000_u64))]
    pub capacity_bytes: u64,
    /// Time of a request apart from its data transfer: the driver, and the start of the copy. A
    /// TRIM takes only this time, and a flush takes none. Nanoseconds. The default is an
    /// assumption.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub overhead_ns: u64,
    /// Copy time per byte, rounded to a thousandth of a picosecond; 0.1 ns per byte is 10 GB/s per
    /// channel. Nanoseconds per byte. The default is an assumption.
    #[schemars(range(min = 0.0, max = 1e6))]
    pub ns_per_byte: f64,
    /// Number of requests served at the same time. Further requests wait for a channel, first come,
    /// first served. Count.
    #[schemars(range(min = 1, max = 65_536))]
    pub channels: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            capacity_bytes: 8 << 30,
            overhead_ns: 1000,
            ns_per_byte: 0.1,
            channels: 1,
        }
    }
}
