//! Raw bit error rates.

pub mod analytic;
pub mod fitted;
pub mod none;
pub mod table;

use serde::{Deserialize, Serialize};

use crate::fault::Fault;

/// What makes cells err: of a page that was programmed at medium cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Age {
    /// Program/erase cycles of its block.
    pub cycles: f64,
    /// How long its data has lain, at the temperature of the model. Days.
    pub retention_days: f64,
    /// Reads of its block since the erase.
    pub reads: f64,
    /// Pages of its block.
    pub pages: u32,
}

impl Age {
    /// Reads of the block since the erase for each of its pages.
    fn reads_a_page(&self) -> f64 {
        self.reads / f64::from(self.pages.max(1))
    }
}

/// A rate, and whether it was beyond what the model is good for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rate {
    /// Raw bit error rate.
    pub rate: f64,
    /// Whether the model gave more, and this is its limit.
    pub is_limited: bool,
}

/// A model of the raw bit error rate.
pub trait Err {
    /// That of a page so old.
    fn rate(&self, age: &Age) -> Rate;
    /// What is wrong with the parameters, if anything: the key, the reason, the remedy.
    fn fault(&self) -> Option<Fault> {
        None
    }
    /// Whether nothing ever errs.
    fn is_none(&self) -> bool {
        false
    }
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// How often do bits err when a page is read?
            pub enum Errors at "nand.reliability.errors" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        wordline_kernel::forward! {
            impl Err for Errors by [$($Variant),+] {
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

/// Boltzmann's constant. Electronvolts a kelvin (CODATA 2018).
const BOLTZMANN: f64 = 8.617_333_262e-5;
const KELVIN: f64 = 273.15;

/// How much faster data ages at `celsius` than at `reference`: `exp(Ea/k (1/T_reference - 1/T))` (Arrhenius; JEDEC JESD218
/// takes an activation energy of 1.1 eV).
pub fn acceleration(activation_ev: f64, celsius: f64, reference: f64) -> f64 {
    let inverse = 1.0 / (reference + KELVIN) - 1.0 / (celsius + KELVIN);
    libm::exp(activation_ev / BOLTZMANN * inverse)
}
