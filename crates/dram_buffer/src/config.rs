//! The `[buffer]` table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_cache::Replacement;

use crate::flush::Flush;
use crate::read_ahead::ReadAhead;

/// DRAM buffer between the host interface and the translation layer (`[buffer]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Buffer {
    /// Capacity, rounded down to whole pages; 0 disables the buffer. KiB.
    #[schemars(range(min = 0, max = 16_777_216))]
    pub capacity_kib: u32,
    /// Replacement policy of the buffer.
    pub replacement: Replacement,
    /// Whether a write completes only when its data is in flash; the page stays in the buffer for
    /// reads. Otherwise a write completes when its data is in the buffer (write-back).
    pub write_through: bool,
    /// Whether capacitors power the buffer after a power cut until its dirty pages are saved. These
    /// pages are in the buffer again after the power cut. Without capacitors they are lost.
    pub capacitors: bool,
    /// Whether flushes complete at once and writes with FUA are treated as other writes, as in
    /// drives that acknowledge a flush before the data is on flash. Without capacitors, a power cut
    /// then loses data that the host regards as durable.
    pub ignores_flush: bool,
    /// Read-ahead policy: into the buffer, or into registers of the dies.
    pub read_ahead: ReadAhead,
    /// Destaging of dirty pages to flash.
    pub flush: Flush,
    /// Background flush: idle time after which all dirty pages are destaged, one per die at a time,
    /// until the next request arrives. 0 disables the background flush. Milliseconds.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub idle_flush_ms: f64,
    /// DRAM access latency until the first byte. Nanoseconds.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub access_ns: u32,
    /// Transfer rate of the buffer's single port, which carries host and flash data in both
    /// directions. MB/s.
    #[schemars(range(min = 1.0, max = 1_000_000.0))]
    pub mb_per_s: f64,
}

impl Default for Buffer {
    fn default() -> Self {
        Self {
            capacity_kib: 0,
            replacement: Replacement::default(),
            write_through: false,
            capacitors: false,
            ignores_flush: false,
            read_ahead: ReadAhead::default(),
            flush: Flush::default(),
            idle_flush_ms: 0.0,
            access_ns: 100,
            mb_per_s: 3200.0,
        }
    }
}
