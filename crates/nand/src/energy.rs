//! Energy, from the voltages and currents of a data sheet.
//!
//! E = V I t. In the units used here, V x mA x us = nJ. Energy is computed from exact times when it
//! is reported, in floating point; nothing is decided by it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

use crate::Operation;

/// Voltages and currents of a die (`[nand.energy]`), in the terms of an ONFI data sheet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Energy {
    /// Supply of the array (VCC). Volts, 0 to 20.
    pub supply_v: f64,
    /// Supply of the bus drivers (VCCQ). Volts, 0 to 20.
    pub io_supply_v: f64,
    /// Array current of a page read, for each plane that works (ICC1). Milliamperes, 0 to 10000.
    pub read_ma: f64,
    /// Array current of a page program, for each plane that works (ICC2). Milliamperes, 0 to 10000.
    pub program_ma: f64,
    /// Array current of a block erase, for each plane that works (ICC3). Milliamperes, 0 to 10000.
    pub erase_ma: f64,
    /// Current while the bus is in use for the die: commands, addresses, data, status (ICC4, ICCQ4). Milliamperes, 0 to 10000.
    pub io_ma: f64,
    /// Current of a die that does nothing (ISB). Microamperes, 0 to 1000000.
    pub standby_ua: f64,
}

impl Default for Energy {
    fn default() -> Self {
        Self {
            supply_v: 3.3,
            io_supply_v: 3.3,
            read_ma: 15.0,
            program_ma: 15.0,
            erase_ma: 15.0,
            io_ma: 15.0,
            standby_ua: 10.0,
        }
    }
}

impl Energy {
    /// Nanojoules that the array takes for `operation` of `time` on `planes` planes at once: VCC x
    /// ICC1 (read), ICC2 (program) or ICC3 (erase) x time x planes. Every plane that works draws the
    /// current, so that a page costs the same in every operation mode.
    pub fn array_nj(&self, operation: Operation, time: Time, planes: u32) -> f64 {
        let current_ma = match operation {
            Operation::Read => self.read_ma,
            Operation::Program | Operation::Move => self.program_ma,
            Operation::Erase => self.erase_ma,
        };
        self.supply_v * current_ma * time.as_us() * f64::from(planes)
    }
    /// Nanojoules that a die takes while the bus is in use for it: VCCQ x ICC4 x time.
    pub fn bus_nj(&self, time: Time) -> f64 {
        self.io_supply_v * self.io_ma * time.as_us()
    }
    /// Nanojoules that a die takes while it does nothing: VCC x ISB x time.
    pub fn standby_nj(&self, idle: Time) -> f64 {
        self.supply_v * self.standby_ua / 1e3 * idle.as_us()
    }
}
