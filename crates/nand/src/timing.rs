//! Durations of array and bus stages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

/// Durations of a NAND part (`[nand.timing]`), in the terms of an ONFI data sheet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Timing {
    /// Page read, cell array to register (tR). Nanoseconds.
    pub read_ns: u64,
    /// Page program, register to cell array (tPROG). Nanoseconds.
    pub program_ns: u64,
    /// Block erase (tBERS). Nanoseconds.
    pub erase_ns: u64,
    /// One command or address cycle on the bus (tWC), also a status byte. Nanoseconds.
    pub command_cycle_ns: u64,
    /// Address cycles of a page operation: 2 column, 3 row in ONFI. An erase sends the row cycles. Count.
    pub address_cycles: u32,
    /// Row address cycles, sent alone by an erase. Count.
    pub row_address_cycles: u32,
    /// Bus width: bits that move in one transfer. 8 or 16.
    pub bus_width_bits: u32,
    /// Data rate of the bus. Million transfers a second.
    pub bus_mt_per_s: f64,
    /// Whether the spare bytes travel with the page's data on the bus.
    pub transfer_spare: bool,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            read_ns: 50_000,
            program_ns: 500_000,
            erase_ns: 3_000_000,
            command_cycle_ns: 25,
            address_cycles: 5,
            row_address_cycles: 3,
            bus_width_bits: 8,
            bus_mt_per_s: 333.0,
            transfer_spare: false,
        }
    }
}

impl Timing {
    /// How long `bytes` take on the bus, rounded to the nearest picosecond. Never zero for a
    /// positive count of bytes, however fast the bus.
    pub fn transfer(&self, bytes: u64) -> Time {
        let transfers = (bytes * 8).div_ceil(u64::from(self.bus_width_bits));
        let ps = (transfers as f64 * 1e6 / self.bus_mt_per_s).round() as u64;
        Time::from_ps(if bytes == 0 { 0 } else { ps.max(1) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_4_kib_takes_12_3_us_at_333_mt_per_s() {
        assert_eq!(Timing::default().transfer(4096), Time::from_ps(12_300_300));
    }

    #[test]
    fn a_wide_bus_halves_and_a_fast_bus_never_vanishes() {
        let timing = Timing {
            bus_width_bits: 16,
            ..Timing::default()
        };
        assert_eq!(timing.transfer(4096), Time::from_ps(6_150_150));
        let timing = Timing {
            bus_mt_per_s: 1e12,
            ..Timing::default()
        };
        assert_eq!(timing.transfer(1), Time::from_ps(1));
    }
}
