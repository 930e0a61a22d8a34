//! Measured failure shares.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Fail;
use crate::fault::Fault;
use crate::points::{self, between, place};

/// Measured shares of failed erases and page programs, by program/erase cycles. Between two points,
/// the logarithm of the share is interpolated linearly, or the share itself if it is 0 at one of
/// them. Outside the points, the nearest one applies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Table {
    /// Program/erase cycles of the points, in rising order. Count.
    #[schemars(inner(range(min = 0.0, max = 10_000_000.0)))]
    pub cycles: Vec<f64>,
    /// Share of erases that fail at each point; 0 if the list is empty. Ratio.
    #[schemars(inner(range(min = 0.0, max = 1.0)))]
    pub erase: Vec<f64>,
    /// Share of page programs that fail at each point; 0 if the list is empty. Ratio.
    #[schemars(inner(range(min = 0.0, max = 1.0)))]
    pub program: Vec<f64>,
}

/// The default shares are placeholders, not measurements.
impl Default for Table {
    fn default() -> Self {
        Self {
            cycles: vec![0.0],
            erase: vec![1e-5],
            program: vec![1e-7],
        }
    }
}

impl Cited for Table {
    const PAPER: &'static str = "";
}

impl Fail for Table {
    fn erase(&self, cycles: f64) -> f64 {
        between(&self.erase, place(&self.cycles, cycles))
    }
    fn program(&self, cycles: f64, _pages: u32) -> f64 {
        between(&self.program, place(&self.cycles, cycles))
    }
    fn fault(&self) -> Option<Fault> {
        let lists = [
            ("erase", self.erase.as_slice(), true),
            ("program", self.program.as_slice(), true),
        ];
        points::fault(&self.cycles, &lists, 1.0)
    }
}
