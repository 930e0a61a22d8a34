//! Reads of a cached store by what served them.

use serde::{Deserialize, Serialize};
use wordline_block::Op;
use wordline_kernel::Time;

/// Response times of a kind of reads, exact.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Times {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub sum: u128,
    /// The sum of their squares, in square microseconds.
    pub squares_us: f64,
}

impl Times {
    fn add(&mut self, time: Time) {
        self.count += 1;
        self.sum += u128::from(time.0);
        self.squares_us += (time.0 as f64 * 1e-6).powi(2);
    }
    /// Their mean, in microseconds; `None` before the first.
    pub fn mean_us(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 * 1e-6 / self.count as f64)
    }
    /// Their standard deviation, in microseconds.
    pub fn deviation_us(&self) -> Option<f64> {
        let mean = self.mean_us()?;
        Some(
            (self.squares_us / self.count as f64 - mean * mean)
                .max(0.0)
                .sqrt(),
        )
    }
}

/// Reads that the flash has served alone, and the others.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Hits {
    /// From flash alone.
    pub hit: Times,
    /// With the store below.
    pub missed: Times,
    /// All of them.
    pub all: Times,
}

impl Hits {
    pub(crate) fn request(&mut self, op: Op, hit: bool, time: Time) {
        if op != Op::Read {
            return;
        }
        let kind = if hit { &mut self.hit } else { &mut self.missed };
        kind.add(time);
        self.all.add(time);
    }
}
