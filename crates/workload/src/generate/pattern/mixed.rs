//! Access pattern that is partly random and partly sequential.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Rng;
use wordline_kernel::slot::Cited;

use super::{Places, Space};
use crate::WorkloadError;

/// A share of the requests starts at a random offset, as with `uniform`. Each of the others starts
/// where the previous request ended, rounded up to the alignment, as with `sequential`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Mixed {
    /// Share of requests that start at a random offset.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub random_ratio: f64,
}

impl Default for Mixed {
    fn default() -> Self {
        Self { random_ratio: 0.5 }
    }
}

impl Cited for Mixed {
    const PAPER: &'static str = "";
}

#[derive(Clone, Debug)]
pub(crate) struct State {
    random_ratio: f64,
    next: u64,
}

impl State {
    #[allow(clippy::unnecessary_wraps)] // signature shared by all patterns
    pub(super) fn new(parameters: &Mixed, _: &Space) -> Result<Self, WorkloadError> {
        Ok(Self {
            random_ratio: parameters.random_ratio,
            next: 0,
        })
    }
}

impl Places for State {
    fn next(&mut self, bytes: u64, space: &Space, random: &mut Rng) -> u64 {
        let offset = if random.unit() < self.random_ratio {
            space.byte(random.below(space.places))
        } else if self.next > space.length - bytes {
            0
        } else {
            self.next
        };
        self.next = (offset + bytes).next_multiple_of(space.align);
        offset
    }
}
