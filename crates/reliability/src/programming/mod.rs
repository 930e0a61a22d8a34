//! Costs of programs and reads, by the program mode of the page.

pub mod step_size;
pub mod table;
pub mod uniform;

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

use crate::fault::Fault;
use crate::mode::ProgramMode;
use crate::program_step::Step;

/// Durations and wear of operations on a page of a given mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModeCost {
    /// Sensing time of a read, which occupies the die.
    pub sense: Time,
    /// Transfer time of a read, which occupies the die and the channel.
    pub transfer: Time,
    /// Duration of a whole write, including the transfer of its data to the die.
    pub write: Time,
    /// Wear of a program, in thousandths of the wear of a program in medium mode.
    pub wear: u32,
    /// First sense level that a read tries.
    pub level: u8,
}

impl ModeCost {
    /// Returns the duration of a read: sensing and transfer.
    pub fn read(&self) -> Time {
        self.sense + self.transfer
    }
}

/// Costs of all modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModeCosts(pub [ModeCost; 4]);

impl ModeCosts {
    /// Returns the costs of a mode.
    #[inline]
    pub fn of(&self, mode: ProgramMode) -> &ModeCost {
        &self.0[mode.index()]
    }
}

/// Programming model.
pub trait Price {
    /// Returns the costs of all modes; `None` if every page is programmed in the same way, with the
    /// times of its part.
    fn costs(&self) -> Result<Option<ModeCosts>, Fault>;
    /// Returns the program steps and voltages that correspond to the costs, by mode.
    fn steps(&self) -> [Step; 4] {
        [Step::MEDIUM; 4]
    }
    /// Returns the distance of neighbouring states, in medium program steps.
    fn distance(&self) -> f64 {
        DISTANCE
    }
}

/// Distance of states at which the errors of three step sizes need 3, 9 and 21 reference voltages,
/// as in table 1 of Li et al. Medium steps.
pub const DISTANCE: f64 = 1.974;

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// How long do programs and reads take in each program mode, and how much do programs wear the
            /// cells?
            pub enum Programming at "nand.programming" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        wordline_kernel::forward! {
            impl Price for Programming by [$($Variant),+] {
                fn costs(&self) -> Result<Option<ModeCosts>, Fault>;
                fn steps(&self) -> [Step; 4];
                fn distance(&self) -> f64;
            }
        }
    };
}

members! {
    "uniform" => Uniform(uniform),
    "table" => Table(table),
    "step-size" => StepSize(step_size),
}

impl Default for Programming {
    fn default() -> Self {
        Self::Uniform(uniform::Uniform::default())
    }
}
