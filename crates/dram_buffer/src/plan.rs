//! Parameters of a buffer.

use serde::{Deserialize, Serialize};
use wordline_cache::Replacement;
use wordline_cache::replacement::{Replace, Replacing};
use wordline_kernel::Time;

/// Validated parameters of a buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools)]
pub struct Plan {
    /// Capacity; at least 1. Pages.
    pub pages: u32,
    /// Replacement policy.
    pub replacement: Replacement,
    /// Whether a write completes only when the flash holds its data.
    pub write_through: bool,
    /// Whether capacitors save the dirty pages in a power cut.
    pub capacitors: bool,
    /// Whether flushes and FUA have no effect.
    pub ignores_flush: bool,
    /// Pages destaged together, at most half of the buffer; 0 if pages are destaged one by one.
    pub batch_pages: u32,
    /// Idle time after which dirty pages are destaged; `None` disables the flush.
    pub idle_flush: Option<Time>,
    /// Pages read ahead after a read that continues where the previous read ended; 0 disables
    /// read-ahead.
    pub read_ahead: u32,
    /// Whether the load balance of the dies is checked at each eviction
    /// ([`crate::Observation::Evicted`]).
    pub watches_balance: bool,
    /// DRAM access latency until the first byte.
    pub access: Time,
    /// Transfer rate of the port: a number of bytes, and the picoseconds that they take.
    pub port: (u64, u64),
}

impl Plan {
    /// Returns `true` if the buffer supports a replacement policy: it must not need future
    /// accesses, and must have a limited capacity.
    pub fn takes(policy: &Replacement) -> bool {
        let of_one = Replacing::new(policy, 1);
        !of_one.needs_next_use() && of_one.capacity() == 1
    }
}
