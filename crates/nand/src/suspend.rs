//! Suspension of programs and erases for reads.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

/// Suspension of programs and erases (`[nand.suspend]`): the array suspends an operation, reads are
/// served, and the operation continues where it stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Suspend {
    /// Whether the part can suspend a program.
    pub program: bool,
    /// Whether the part can suspend an erase.
    pub erase: bool,
    /// Time from the suspend command until the array has suspended a program. Nanoseconds.
    #[schemars(range(min = 0, max = 10_000_000_000_u64))]
    pub program_suspend_ns: u64,
    /// Time from the suspend command until the array has suspended an erase. Nanoseconds.
    #[schemars(range(min = 0, max = 10_000_000_000_u64))]
    pub erase_suspend_ns: u64,
    /// Array time of a resumed operation in addition to its remaining time. Nanoseconds.
    #[schemars(range(min = 0, max = 10_000_000_000_u64))]
    pub resume_ns: u64,
    /// Maximum suspensions of one operation. Count.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub most: u32,
    /// Maximum time for which reads take precedence over an operation, counted from its suspension,
    /// or from its arrival at the die if it has not started. A read that has started completes.
    /// Nanoseconds.
    #[schemars(range(min = 0, max = 10_000_000_000_u64))]
    pub longest_ns: u64,
}

/// The latencies are those of MQSim (Tavakkol et al., FAST 2018: `Suspend_Program_Time` and
/// `Suspend_Erase_Time`). Multi-level parts have similar ones (Micron: tPSPD 150 to 500 us, tESPD
/// up to 1.1 ms). The resume time and the limits are assumed.
impl Default for Suspend {
    fn default() -> Self {
        Self {
            program: false,
            erase: false,
            program_suspend_ns: 100_000,
            erase_suspend_ns: 700_000,
            resume_ns: 20_000,
            most: 8,
            longest_ns: 5_000_000,
        }
    }
}

impl Suspend {
    /// Returns the time from the suspend command until the array has suspended an erase or a
    /// program.
    #[inline]
    pub const fn latency(&self, erase: bool) -> Time {
        Time::from_ns(if erase {
            self.erase_suspend_ns
        } else {
            self.program_suspend_ns
        })
    }
}
