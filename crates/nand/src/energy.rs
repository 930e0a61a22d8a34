//! Energy, from the voltages and currents of a data sheet.
//!
//! E = V I t. In the units used here, V x mA x us = nJ. Energy is computed in floating point from
//! exact times when it is reported; no decision depends on it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

use crate::Operation;

/// Voltages and currents of a die (`[nand.energy]`), in the terms of an ONFI data sheet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Energy {
    /// Supply of the array (VCC). Volts.
    #[schemars(range(min = 0.0, max = 20.0))]
    pub supply_v: f64,
    /// Supply of the bus drivers (VCCQ). Volts.
    #[schemars(range(min = 0.0, max = 20.0))]
    pub io_supply_v: f64,
    /// Array current of a page read, for each active plane (ICC1). Milliamperes.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub read_ma: f64,
    /// Array current of a page program, for each active plane (ICC2). Milliamperes.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub program_ma: f64,
    /// Array current of a block erase, for each active plane (ICC3). Milliamperes.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub erase_ma: f64,
    /// Current while the bus is in use for the die: commands, addresses, data, status (ICC4,
    /// ICCQ4). Milliamperes.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub io_ma: f64,
    /// Current of an idle die (ISB). Microamperes.
    #[schemars(range(min = 0.0, max = 1e6))]
    pub standby_ua: f64,
}

/// Single-level part with an asynchronous bus: typical values of the Numonyx NAND02G-B2C data
/// sheet, table 23, at the nominal 3.3 V. The data sheet measures the current of a sequential read
/// while data moves at the shortest cycle. The model uses this current for both array and bus.
impl Default for Energy {
    fn default() -> Self {
        Self {
            supply_v: 3.3,
            io_supply_v: 3.3,
            read_ma: 10.0,
            program_ma: 10.0,
            erase_ma: 10.0,
            io_ma: 10.0,
            standby_ua: 10.0,
        }
    }
}

impl Energy {
    /// Returns the energy of the array for `operation` of duration `time` on `planes` planes at
    /// once: VCC x ICC1 (read), ICC2 (program, move) or ICC3 (erase) x time x planes. Every active
    /// plane draws the current, so a page costs the same in every operation mode. Nanojoules.
    pub fn array_nj(&self, operation: Operation, time: Time, planes: u32) -> f64 {
        let current_ma = match operation {
            Operation::Read => self.read_ma,
            Operation::Program | Operation::Move => self.program_ma,
            Operation::Erase => self.erase_ma,
        };
        self.supply_v * current_ma * time.as_us() * f64::from(planes)
    }
    /// Returns the energy of array reads, array programs, array erases and the bus. The array times
    /// are totals over all planes; `bus` is the time on the bus. Nanojoules.
    pub fn stages_nj(&self, [read, program, erase]: [Time; 3], bus: Time) -> [f64; 4] {
        [
            self.array_nj(Operation::Read, read, 1),
            self.array_nj(Operation::Program, program, 1),
            self.array_nj(Operation::Erase, erase, 1),
            self.bus_nj(bus),
        ]
    }
    /// Returns the energy of a die while it uses the bus: VCCQ x ICC4 x time. Nanojoules.
    pub fn bus_nj(&self, time: Time) -> f64 {
        self.io_supply_v * self.io_ma * time.as_us()
    }
    /// Returns the energy of an idle die: VCC x ISB x time. Nanojoules.
    pub fn standby_nj(&self, idle: Time) -> f64 {
        self.supply_v * self.standby_ua / 1e3 * idle.as_us()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part() -> Energy {
        Energy {
            supply_v: 3.3,
            io_supply_v: 1.8,
            read_ma: 20.0,
            program_ma: 25.0,
            erase_ma: 30.0,
            io_ma: 10.0,
            standby_ua: 50.0,
        }
    }

    fn close(a: f64, b: f64) -> bool {
        (a / b - 1.0).abs() < 1e-12
    }

    #[test]
    fn energy_is_voltage_times_current_times_time() {
        let part = part();
        let us = Time::from_us(100);
        // 3.3 V x 20 mA = 66 mW; over 100 us this is 6.6 uJ.
        assert!(close(part.array_nj(Operation::Read, us, 1), 6_600.0));
        assert!(close(part.array_nj(Operation::Program, us, 1), 8_250.0));
        assert!(close(part.array_nj(Operation::Erase, us, 1), 9_900.0));
        assert!(close(part.bus_nj(us), 1_800.0));
        // 3.3 V x 50 uA = 165 uW; over one second this is 165 uJ.
        assert!(close(part.standby_nj(Time::from_ms(1000)), 165_000.0));
    }

    #[test]
    fn a_page_costs_the_same_energy_alone_and_in_a_multi_plane_operation() {
        let part = part();
        let time = Time::from_us(250);
        let alone = part.array_nj(Operation::Program, time, 1) * 4.0;
        assert!(close(part.array_nj(Operation::Program, time, 4), alone));
    }
}
