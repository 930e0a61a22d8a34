//! Raw bit error rates.

pub mod analytic;
pub mod fitted;
pub mod none;
pub mod table;

use serde::{Deserialize, Serialize};

use crate::fault::Fault;

/// Conditions that determine the errors of a page programmed at medium cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Age {
    /// Program/erase cycles of the block. Count.
    pub cycles: f64,
    /// Retention time, at the temperature of the model. Days.
    pub retention_days: f64,
    /// Reads of the block since its erase. Count.
    pub reads: f64,
    /// Pages of the block. Count.
    pub pages: u32,
}

impl Age {
    /// Returns the number of reads of the block since its erase, per page.
    fn reads_a_page(&self) -> f64 {
        self.reads / f64::from(self.pages.max(1))
    }
}

/// Raw bit error rate, and whether it exceeded the validity of the model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rate {
    /// Raw bit error rate.
    pub rate: f64,
    /// Whether the model exceeded its limit and returned the limit instead.
    pub is_limited: bool,
}

/// Model of the raw bit error rate.
pub trait Err {
    /// Returns the raw bit error rate of a page of this age.
    fn rate(&self, age: &Age) -> Rate;
    /// Returns the fault of the parameters, if any: key, reason and remedy.
    fn fault(&self) -> Option<Fault> {
        None
    }
    /// Returns `true` if the model gives no bit errors at any age.
    fn is_none(&self) -> bool {
        false
    }
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// What is the raw bit error rate of a read?
            pub enum Errors at "nand.reliability.errors" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        wordline_kernel::forward! {
            impl Err for Errors by [$($Variant),+] {
                #[inline]
                fn rate(&self, age: &Age) -> Rate;
                fn fault(&self) -> Option<Fault>;
                fn is_none(&self) -> bool;
            }
        }
    };
}

members! {
    "none" => None(none),
    "table" => Table(table),
    "analytic" => Analytic(analytic),
    "fitted" => Fitted(fitted),
}

impl Default for Errors {
    fn default() -> Self {
        Self::None(none::None::default())
    }
}

/// Boltzmann constant. Electronvolts per kelvin (CODATA 2018).
const BOLTZMANN: f64 = 8.617_333_262e-5;
const KELVIN: f64 = 273.15;

/// Returns the factor by which data ages faster at `celsius` than at `reference`: `exp(Ea/k
/// (1/T_reference - 1/T))` (Arrhenius; JEDEC JESD218 uses an activation energy of 1.1 eV).
pub fn acceleration(activation_ev: f64, celsius: f64, reference: f64) -> f64 {
    let inverse = 1.0 / (reference + KELVIN) - 1.0 / (celsius + KELVIN);
    libm::exp(activation_ev / BOLTZMANN * inverse)
}
