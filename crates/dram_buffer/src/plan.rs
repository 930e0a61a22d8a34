//! Parameters of a buffer.

use serde::{Deserialize, Serialize};
use wordline_cache::Replacement;
use wordline_cache::replacement::{Replace, Replacing};
use wordline_kernel::Time;

/// Validated parameters of a buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Pages that it holds; at least 1.
    pub pages: u32,
    /// Replacement policy.
    pub replacement: Replacement,
    /// Whether a write completes only when the flash holds it.
    pub write_through: bool,
    /// Whether capacitors save the dirty pages in a power cut.
    pub capacitors: bool,
    /// Pages destaged together, at most half of the buffer; 0 if pages are destaged one by one.
    pub batch_pages: u32,
    /// Idle time after which dirty pages are destaged; `None`: never.
    pub idle_flush: Option<Time>,
    /// Pages read ahead after a read that continues where the previous one ended; 0: none.
    pub read_ahead: u32,
    /// Whether the load balance of the dies is checked at each eviction:
    /// [`crate::Observation::Evicted`].
    pub watches_balance: bool,
    /// DRAM access latency until the first byte.
    pub access: Time,
    /// Rate of its port: bytes, and the picoseconds that they take.
    pub port: (u64, u64),
}

impl Plan {
    /// Returns `true` if a replacement policy is supported: it must not need the future, and must
    /// have a capacity.
    pub fn takes(policy: &Replacement) -> bool {
        let of_one = Replacing::new(policy, 1);
        !of_one.needs_next_use() && of_one.capacity() == 1
    }
}
