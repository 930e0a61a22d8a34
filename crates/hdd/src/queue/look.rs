//! Elevator (LOOK).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_kernel::slot::Cited;

use super::{ByLbn, Order, Waiting, insert};
use crate::extent::Extent;

/// Serves requests in one direction from the start of the request served last, as long as a request
/// waits in that direction. Then serves requests in the other direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Look {}

impl Cited for Look {
    const PAPER: &'static str = "B. Worthington, G. Ganger, Y. Patt, Scheduling algorithms for modern disk drives, SIGMETRICS 1994";
}

/// Waiting requests, and the direction of the arm.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    waiting: ByLbn,
    downwards: bool,
}

impl State {
    pub(super) fn new(_policy: &Look) -> Self {
        Self {
            waiting: ByLbn::new(),
            downwards: false,
        }
    }
    /// Returns the nearest request in the current direction; `None` if there is none.
    fn ahead(&self, from: u64) -> Option<(u64, u64)> {
        if !self.downwards {
            return self.waiting.range((from, 0)..).next().map(|(key, _)| *key);
        }
        let (lowest, _) = *self.waiting.range(..=(from, u64::MAX)).next_back()?.0;
        // Of several requests that start at the same sector, the one that arrived first is served
        // first.
        self.waiting
            .range((lowest, 0)..)
            .next()
            .map(|(key, _)| *key)
    }
}

impl Order for State {
    fn push(&mut self, waiting: Waiting) {
        insert(&mut self.waiting, waiting);
    }
    fn next(
        &mut self,
        _now: Time,
        served: Extent,
        _cost: impl Fn(&Waiting) -> Time,
    ) -> Option<Waiting> {
        if self.waiting.is_empty() {
            return None;
        }
        let key = self.ahead(served.lbn).or_else(|| {
            self.downwards = !self.downwards;
            self.ahead(served.lbn)
        })?;
        self.waiting.remove(&key)
    }
    fn waiting(&self) -> usize {
        self.waiting.len()
    }
}
