//! Measured raw bit error rates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Age, Err, Rate};
use crate::fault::Fault;
use crate::points::{self, between, place};

/// Measured raw bit error rates by program/erase cycles, and their increase per day of retention
/// and per read of the block. Between two points, the logarithm of the rate is interpolated
/// linearly, or the rate itself if it is 0 at one of them. Outside the points, the nearest one
/// applies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Table {
    /// Program/erase cycles of the points, in rising order. Count.
    #[schemars(inner(range(min = 0.0, max = 10_000_000.0)))]
    pub cycles: Vec<f64>,
    /// Raw bit error rate of newly written data at each point. Ratio.
    #[schemars(inner(range(min = 0.0, max = 0.5)))]
    pub rates: Vec<f64>,
    /// Increase per day of retention at each point; 0 if the list is empty. Ratio per day.
    #[schemars(inner(range(min = 0.0, max = 0.5)))]
    pub per_day: Vec<f64>,
    /// Increase per read of the block at each point; 0 if the list is empty. Ratio per read.
    #[schemars(inner(range(min = 0.0, max = 0.5)))]
    pub per_read: Vec<f64>,
}

/// The default rate is a placeholder, not a measurement.
impl Default for Table {
    fn default() -> Self {
        Self {
            cycles: vec![0.0],
            rates: vec![1e-4],
            per_day: Vec::new(),
            per_read: Vec::new(),
        }
    }
}

impl Cited for Table {
    const PAPER: &'static str = "";
}

impl Err for Table {
    #[inline]
    fn rate(&self, age: &Age) -> Rate {
        let place = place(&self.cycles, age.cycles);
        let mut rate = between(&self.rates, place);
        for (increases, span) in [
            (&self.per_day, age.retention_days),
            (&self.per_read, age.reads),
        ] {
            if !increases.is_empty() {
                rate += between(increases, place) * span;
            }
        }
        Rate {
            rate: rate.min(0.5),
            is_limited: rate > 0.5,
        }
    }
    fn fault(&self) -> Option<Fault> {
        let lists = [
            ("rates", self.rates.as_slice(), false),
            ("per_day", self.per_day.as_slice(), true),
            ("per_read", self.per_read.as_slice(), true),
        ];
        points::fault(&self.cycles, &lists, 0.5)
    }
}
