//! The `[ssd]`, `[buffer]` and `[host]` tables.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use wordline_cache::Replacement;
use wordline_dram_buffer::{Flush, ReadAhead};
use wordline_reliability::Ecc;

use wordline_host_link::Interface;
use wordline_io_scheduler::Composition;
use wordline_io_scheduler::Scheduler;

/// How packages are wired (`[ssd]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ssd {
    /// Channels: independent buses. Count.
    #[schemars(range(min = 1, max = 1024))]
    pub channels: u32,
    /// Packages on a channel; they share its bus. Count.
    #[schemars(range(min = 1, max = 1024))]
    pub ways: u32,
    /// Which operations waiting for a die become one multi-plane command.
    pub composition: Composition,
    /// Which flash operations of the host go to their dies next.
    pub scheduler: Scheduler,
    /// What corrects the errors of pages (`nand.reliability`).
    pub ecc: Ecc,
}

impl Default for Ssd {
    fn default() -> Self {
        Self {
            channels: 8,
            ways: 4,
            composition: Composition::default(),
            scheduler: Scheduler::default(),
            ecc: Ecc::default(),
        }
    }
}

/// What the host sees (`[host]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Host {
    /// Requests the device holds at once; further ones wait outside, first come, first served. Count.
    #[schemars(range(min = 1, max = 1_000_000))]
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

/// The DRAM buffer between the host interface and the translation layer (`[buffer]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Buffer {
    /// Capacity, in whole pages; 0 for no buffer. KiB.
    #[schemars(range(min = 0, max = 16_777_216))]
    pub capacity_kib: u32,
    /// Which page leaves when another needs its place.
    pub replacement: Replacement,
    /// Whether a write completes only when the flash holds it; the page stays in the buffer for
    /// reads. Otherwise a write completes when its data is in the buffer (write-back).
    pub write_through: bool,
    /// Whether capacitors keep the memory alive in a power cut until its dirty pages are saved; they are in the buffer again afterwards. Without them they are lost.
    pub capacitors: bool,
    /// Which pages are read before the host asks for them: into the buffer, or into registers of the dies.
    pub read_ahead: ReadAhead,
    /// How dirty pages go to the flash.
    pub flush: Flush,
    /// After how long without a request all dirty pages go to the flash, one to a die at a time and until the next request comes (background flush); 0 for never. Milliseconds.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub idle_flush_ms: f64,
    /// DRAM access latency until the first byte. ns.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub access_ns: u32,
    /// Rate of the memory's one port, which carries host data in and out and flash data in and out. MB/s.
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
            read_ahead: ReadAhead::default(),
            flush: Flush::default(),
            idle_flush_ms: 0.0,
            access_ns: 100,
            mb_per_s: 3200.0,
        }
    }
}
