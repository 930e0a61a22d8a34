//! Costs from a table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{ModeCost, ModeCosts, Price};
use crate::fault::{Fault, thousandths, us};
use crate::mode::ProgramMode;
use crate::program_step::Step;

/// Programs of low, medium and high cost, and programs of medium cost with reduced wear. The
/// duration of a read depends on the last program of its page. The times are those of whole
/// operations and replace `read_ns` and `program_ns` of `nand.timing`. The defaults are those of
/// table 1 of the publication.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Table {
    /// Low-cost writes.
    pub low: Low,
    /// Medium-cost writes.
    pub medium: Medium,
    /// High-cost writes.
    pub high: High,
    /// Medium-cost writes with reduced wear.
    pub reduced: Reduced,
}

/// Keys of a mode; the defaults differ between modes.
macro_rules! costs {
    ($($Mode:ident: $name:literal, $read:literal, $transfer:literal, $write:literal, $wear:literal;)+) => {$(
        #[doc = concat!("Costs of a ", $name, " and of the reads of its page.")]
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct $Mode {
            /// Duration of a read of the page: sensing and transfer. Microseconds.
            #[schemars(range(max = 1e6), extend("exclusiveMinimum" = 0.0))]
            pub read_us: f64,
            /// Transfer part of the read, which also occupies the channel. Microseconds.
            #[schemars(range(min = 0.0, max = 1e6))]
            pub transfer_us: f64,
            /// Duration of a write, including the transfer of its data over the channel.
            /// Microseconds.
            #[schemars(range(max = 1e6), extend("exclusiveMinimum" = 0.0))]
            pub write_us: f64,
            /// Wear per program, relative to medium mode. Ratio.
            #[schemars(range(min = 0.0, max = 100.0))]
            pub wear: f64,
        }

        impl Default for $Mode {
            fn default() -> Self {
                Self {
                    read_us: $read,
                    transfer_us: $transfer,
                    write_us: $write,
                    wear: $wear,
                }
            }
        }

        impl From<&$Mode> for Cost {
            fn from(keys: &$Mode) -> Self {
                Self {
                    read_us: keys.read_us,
                    transfer_us: keys.transfer_us,
                    write_us: keys.write_us,
                    wear: keys.wear,
                }
            }
        }
    )+};
}

costs! {
    Low: "low-cost write", 310.0, 100.0, 450.0, 1.0;
    Medium: "medium-cost write", 170.0, 80.0, 600.0, 1.0;
    High: "high-cost write", 70.0, 40.0, 800.0, 1.0;
    Reduced: "write with reduced wear", 310.0, 100.0, 600.0, 0.8;
}

/// Costs of one mode, in the units of the configuration.
struct Cost {
    read_us: f64,
    transfer_us: f64,
    write_us: f64,
    wear: f64,
}

impl Cited for Table {
    const PAPER: &'static str = "Q. Li, L. Shi, C. Gao, Y. Di, C. J. Xue, Access Characteristic Guided Read and Write Regulation on Flash based Storage Systems, table 1";
}

impl Table {
    fn of(&self, mode: ProgramMode) -> (&'static str, Cost) {
        match mode {
            ProgramMode::Medium => ("medium.transfer_us", (&self.medium).into()),
            ProgramMode::Low => ("low.transfer_us", (&self.low).into()),
            ProgramMode::High => ("high.transfer_us", (&self.high).into()),
            ProgramMode::Reduced => ("reduced.transfer_us", (&self.reduced).into()),
        }
    }
}

impl Price for Table {
    fn costs(&self) -> Result<Option<ModeCosts>, Fault> {
        let mut costs = Vec::new();
        for mode in ProgramMode::ALL {
            let (key, cost) = self.of(mode);
            if cost.transfer_us >= cost.read_us {
                return Err(Fault {
                    key,
                    reason: format!(
                        "the transfer of {} us is not shorter than the read of {} us",
                        cost.transfer_us, cost.read_us
                    ),
                    remedy: "set transfer_us below read_us",
                });
            }
            costs.push(ModeCost {
                sense: us(cost.read_us) - us(cost.transfer_us),
                transfer: us(cost.transfer_us),
                write: us(cost.write_us),
                wear: thousandths(cost.wear),
                level: match mode {
                    ProgramMode::High => 0,
                    ProgramMode::Medium => 1,
                    ProgramMode::Low | ProgramMode::Reduced => 2,
                },
            });
        }
        Ok(costs.try_into().ok().map(ModeCosts))
    }
    /// Derives the steps from the costs. A write takes as many steps as its voltage needs, so its
    /// wear determines the voltage, and its duration the step.
    fn steps(&self) -> [Step; 4] {
        ProgramMode::ALL.map(|mode| {
            let (_, cost) = self.of(mode);
            Step {
                step: self.medium.write_us / cost.write_us * cost.wear,
                voltage: cost.wear,
            }
        })
    }
}
