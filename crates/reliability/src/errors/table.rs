//! Measured points.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Age, Err, Rate};
use crate::fault::Fault;

/// Measured raw bit error rates by program/erase cycles, and what each day of retention and each read of the block adds.
/// Between two points, on a straight line of the logarithm of the rate; outside, that of the nearest point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Table {
    /// Program/erase cycles of the points, in rising order.
    #[schemars(inner(range(min = 0.0, max = 10_000_000.0)))]
    pub cycles: Vec<f64>,
    /// Raw bit error rate at each of them, of data just written. Ratio.
    #[schemars(inner(range(min = 0.0, max = 0.5)))]
    pub rates: Vec<f64>,
    /// What a day of retention adds at each of them; nothing where the list is empty. Ratio a day.
    #[schemars(inner(range(min = 0.0, max = 0.5)))]
    pub per_day: Vec<f64>,
    /// What a read of the block adds at each of them; nothing where the list is empty. Ratio a read.
    #[schemars(inner(range(min = 0.0, max = 0.5)))]
    pub per_read: Vec<f64>,
}

/// No measurement: a rate to begin with.
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

impl Table {
    /// Between the points that `cycles` lies between: the place of the lower, and the share of the way to the next.
    fn place(&self, cycles: f64) -> (usize, f64) {
        let above = self.cycles.partition_point(|&point| point <= cycles);
        if above == 0 {
            return (0, 0.0);
        }
        match self.cycles.get(above) {
            Some(next) => {
                let below = self.cycles[above - 1];
                (above - 1, (cycles - below) / (next - below))
            }
            None => (above - 1, 0.0),
        }
    }
}

fn between(values: &[f64], (below, share): (usize, f64)) -> f64 {
    let at = |place: usize| values.get(place).copied().unwrap_or_default();
    let (low, high) = (at(below), at(below + 1));
    if share == 0.0 {
        return low;
    }
    if low <= 0.0 || high <= 0.0 {
        return low + (high - low) * share;
    }
    libm::exp(libm::log(low) * (1.0 - share) + libm::log(high) * share)
}

impl Err for Table {
    fn rate(&self, age: &Age) -> Rate {
        let place = self.place(age.cycles);
        let rate = between(&self.rates, place)
            + between(&self.per_day, place) * age.retention_days
            + between(&self.per_read, place) * age.reads;
        Rate {
            rate: rate.min(0.5),
            is_limited: rate > 0.5,
        }
    }
    fn fault(&self) -> Option<Fault> {
        let fault = |key, reason, remedy| {
            Some(Fault {
                key,
                reason,
                remedy,
            })
        };
        if self.cycles.is_empty() || !self.cycles.is_sorted_by(|one, next| one < next) {
            let reason = "the points are not in rising order, or there is none".into();
            return fault("cycles", reason, "give at least one, in rising order");
        }
        let points = self.cycles.len();
        for (key, values, may_be_empty) in [
            ("rates", &self.rates, false),
            ("per_day", &self.per_day, true),
            ("per_read", &self.per_read, true),
        ] {
            let given = values.len();
            if given != points && !(may_be_empty && given == 0) {
                let reason = format!("{given} numbers are given for {points} points");
                return fault(key, reason, "give one for each of cycles");
            }
            if values.iter().any(|value| !(0.0..=0.5).contains(value)) {
                let reason = "a rate is not between 0 and 0.5".into();
                return fault(key, reason, "give shares of all bits");
            }
        }
        None
    }
}
