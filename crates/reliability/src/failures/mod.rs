//! Programs and erases that fail.

pub mod none;
pub mod table;
pub mod weibull;

use serde::{Deserialize, Serialize};

use crate::fault::Fault;

/// A model of programs and erases that fail.
pub trait Fail {
    /// The probability that the next erase of a block fails that has seen so many program/erase cycles.
    fn erase(&self, cycles: f64) -> f64;
    /// The probability that the program of a page of such a block of so many pages fails.
    fn program(&self, cycles: f64, pages: u32) -> f64;
    /// What is wrong with the parameters, if anything: the key, the reason, the remedy.
    fn fault(&self) -> Option<Fault> {
        None
    }
    /// Whether nothing ever fails.
    fn is_none(&self) -> bool {
        false
    }
}

macro_rules! members {
    ($($tag:literal => $Variant:ident($file:ident)),+ $(,)?) => {
        wordline_kernel::family! {
            /// How often do programs and erases fail, and so make blocks bad?
            pub enum Failures at "nand.reliability.failures" {
                $($tag => $Variant($file::$Variant)),+
            }
        }

        wordline_kernel::forward! {
            impl Fail for Failures by [$($Variant),+] {
                fn erase(&self, cycles: f64) -> f64;
                fn program(&self, cycles: f64, pages: u32) -> f64;
                fn fault(&self) -> Option<Fault>;
                fn is_none(&self) -> bool;
            }
        }
    };
}

members! {
    "none" => None(none),
    "weibull" => Weibull(weibull),
    "table" => Table(table),
}

impl Default for Failures {
    fn default() -> Self {
        Self::None(none::None::default())
    }
}

/// How blocks of a device become bad.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failing {
    /// The model.
    pub failures: Failures,
    /// Program/erase cycles of every block before the run.
    pub cycles: f64,
}
