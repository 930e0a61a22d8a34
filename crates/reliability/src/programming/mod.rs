//! What programs and reads cost, by the mode in which a page was programmed.

pub mod step_size;
pub mod table;
pub mod uniform;

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

use crate::fault::Fault;
use crate::mode::ProgramMode;
use crate::program_step::Step;

/// What operations on a page take that is programmed in a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModeCost {
    /// Sensing of a read: the die is held.
    pub sense: Time,
    /// Its transfer: die and channel are held.
    pub transfer: Time,
    /// The whole of a write, with the way of its data to the die.
    pub write: Time,
    /// Wear of a program, in thousandths of that of a medium one.
    pub wear: u32,
    /// The first level of the decoder's ladder that a read tries.
    pub level: u8,
}

impl ModeCost {
    /// A read, sensing and transfer.
    pub fn read(&self) -> Time {
        self.sense + self.transfer
    }
}

/// Costs of all modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModeCosts(pub [ModeCost; 4]);

impl ModeCosts {
    /// Those of a mode.
    #[inline]
    pub fn of(&self, mode: ProgramMode) -> &ModeCost {
        &self.0[mode.index()]
    }
}

/// What a model of programming says.
pub trait Price {
    /// The costs of all modes; none if every page is programmed alike, with the times of its part.
    fn costs(&self) -> Result<Option<ModeCosts>, Fault>;
    /// Steps and voltages that explain them.
    fn steps(&self) -> [Step; 4] {
        [Step::MEDIUM; 4]
    }
    /// How far states lie apart, in medium program steps.
    fn distance(&self) -> f64 {
        DISTANCE
    }
}

/// Distance of states at which the errors of three step sizes need 3, 9 and 21 reference voltages, as in table 1 of Li et
/// al. Medium steps.
pub const DISTANCE: f64 = 1.974;

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// What do programs and the reads after them cost?
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
