//! Weibull-distributed block lifetimes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Fail;

/// A block survives c cycles with probability `exp(-(c/scale)^shape)` (Weibull distribution).
/// Erases and programs have separate scales; the pages of a block share the hazard of a cycle
/// equally.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Weibull {
    /// Cycles after which an erase has failed in 63.2 % of the blocks; 0 for never. Count.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub erase_cycles: f64,
    /// Cycles after which a program has failed in 63.2 % of the blocks; 0 for never. Count.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub program_cycles: f64,
    /// Shape: 1 for failures independent of wear, more for cells that wear out.
    #[schemars(range(min = 0.1, max = 100.0))]
    pub shape: f64,
}

impl Default for Weibull {
    fn default() -> Self {
        Self {
            erase_cycles: 10_000.0,
            program_cycles: 10_000.0,
            shape: 4.0,
        }
    }
}

impl Cited for Weibull {
    const PAPER: &'static str = "W. Weibull, A statistical distribution function of wide applicability, J. Appl. Mech. 18, 1951";
}

impl Weibull {
    /// Returns the hazard of the cycle after `cycles`: the increase of the cumulative hazard
    /// `(c/scale)^shape` during that cycle.
    fn hazard(&self, cycles: f64, scale: f64) -> f64 {
        if scale <= 0.0 {
            return 0.0;
        }
        let cumulative = |cycles: f64| libm::pow(cycles.max(0.0) / scale, self.shape);
        cumulative(cycles + 1.0) - cumulative(cycles)
    }
}

impl Fail for Weibull {
    fn erase(&self, cycles: f64) -> f64 {
        -libm::expm1(-self.hazard(cycles, self.erase_cycles))
    }
    fn program(&self, cycles: f64, pages: u32) -> f64 {
        let hazard = self.hazard(cycles, self.program_cycles);
        -libm::expm1(-hazard / f64::from(pages.max(1)))
    }
    fn is_none(&self) -> bool {
        self.erase_cycles <= 0.0 && self.program_cycles <= 0.0
    }
}
