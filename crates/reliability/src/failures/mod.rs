//! Failures of programs and erases.

pub mod none;
pub mod table;
pub mod weibull;

use serde::{Deserialize, Serialize};

use crate::fault::Fault;

/// Model of program and erase failures.
pub trait Fail {
    /// Returns the probability that the next erase of a block with `cycles` program/erase cycles
    /// fails.
    fn erase(&self, cycles: f64) -> f64;
    /// Returns the probability that the program of a page fails, in a block with `cycles`
    /// program/erase cycles and `pages` pages.
    fn program(&self, cycles: f64, pages: u32) -> f64;
    /// Returns the fault of the parameters, if any: key, reason and remedy.
    fn fault(&self) -> Option<Fault> {
        None
    }
    /// Returns `true` if no operation ever fails.
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

/// Model of block failures of a device, with the wear of its blocks before the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failing {
    /// Failure model.
    pub failures: Failures,
    /// Program/erase cycles of every block before the run. Count.
    pub cycles: f64,
}
