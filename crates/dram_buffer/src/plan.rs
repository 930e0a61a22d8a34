//! A buffer that can be built.

use serde::{Deserialize, Serialize};
use wordline_cache::Replacement;
use wordline_cache::replacement::{Replace, Replacing};
use wordline_kernel::Time;

/// A buffer that can be built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Pages it holds; at least 1.
    pub pages: u32,
    /// Which page leaves.
    pub replacement: Replacement,
    /// Whether a write is done only when the flash holds it.
    pub write_through: bool,
    /// Whether what is in it survives a power cut.
    pub capacitors: bool,
    /// Pages that go to the flash together, of which the buffer holds twice as many at least; 0 if they go one by one.
    pub batch_pages: u32,
    /// After how long without a request dirty pages go to the flash; never, if `None`.
    pub idle_flush: Option<Time>,
    /// Pages that are read behind a read that goes on where the one before it ended; 0 for none.
    pub read_ahead: u32,
    /// Whether the chips are looked at whenever a page leaves: [`crate::Observation::Evicted`].
    pub watches_balance: bool,
    /// DRAM access latency until the first byte.
    pub access: Time,
    /// How fast its port is: this many bytes take this many picoseconds.
    pub port: (u64, u64),
}

impl Plan {
    /// Whether a policy can fill the buffer: it need not know the future, and keeps to a size.
    pub fn takes(policy: &Replacement) -> bool {
        let of_one = Replacing::new(policy, 1);
        !of_one.needs_next_use() && of_one.capacity() == 1
    }
}
