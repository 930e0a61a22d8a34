//! Shortest positioning time first (SPTF).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_kernel::slot::Cited;

use super::{Order, Waiting};
use crate::extent::Extent;

/// Serves the request whose first sector can be under the head soonest. A request that has waited
/// longer than `age_bound_ms` goes first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sptf {
    /// Waiting time after which a request is served first; 0 for no limit. Milliseconds.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub age_bound_ms: f64,
}

impl Default for Sptf {
    fn default() -> Self {
        Self {
            age_bound_ms: 1_000.0,
        }
    }
}

impl Cited for Sptf {
    const PAPER: &'static str = "D. Jacobson, J. Wilkes, Disk scheduling algorithms based on rotational position, HPL-CSP-91-7, 1991";
}

/// Waiting requests, and the bound of their age.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    /// Operations in order of arrival.
    waiting: Vec<Waiting>,
    age_bound: Time,
}

impl State {
    pub(super) fn new(policy: &Sptf) -> Self {
        let bound = policy.age_bound_ms.clamp(0.0, 1e6);
        Self {
            waiting: Vec::new(),
            age_bound: if bound > 0.0 {
                Time((bound * 1e9).round() as u64)
            } else {
                Time::MAX
            },
        }
    }
}

impl Order for State {
    fn push(&mut self, waiting: Waiting) {
        self.waiting.push(waiting);
    }
    fn next(
        &mut self,
        now: Time,
        _served: Extent,
        cost: impl Fn(&Waiting) -> Time,
    ) -> Option<Waiting> {
        let oldest = self.waiting.first()?;
        if now.since(oldest.since) > self.age_bound {
            return Some(self.waiting.remove(0));
        }
        let soonest = self.waiting.iter().enumerate();
        let (place, _) = soonest.min_by_key(|(_, waiting)| cost(waiting))?;
        Some(self.waiting.remove(place))
    }
    fn waiting(&self) -> usize {
        self.waiting.len()
    }
}
