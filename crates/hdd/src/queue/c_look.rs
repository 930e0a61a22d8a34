//! Circular elevator (C-LOOK).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_kernel::slot::Cited;

use super::{ByLbn, Order, Waiting, insert};
use crate::extent::Extent;

/// Serves requests in ascending order of their first sectors, from the start of the request served
/// last. At the end, starts again with the lowest waiting request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CLook {}

impl Cited for CLook {
    const PAPER: &'static str = "B. Worthington, G. Ganger, Y. Patt, Scheduling algorithms for modern disk drives, SIGMETRICS 1994";
}

/// Waiting requests, ordered by first sector.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State(ByLbn);

impl State {
    pub(super) fn new(_policy: &CLook) -> Self {
        Self(ByLbn::new())
    }
}

impl Order for State {
    fn push(&mut self, waiting: Waiting) {
        insert(&mut self.0, waiting);
    }
    fn next(
        &mut self,
        _now: Time,
        served: Extent,
        _cost: impl Fn(&Waiting) -> Time,
    ) -> Option<Waiting> {
        let ahead = self.0.range((served.lbn, 0)..).next();
        let key = *ahead.or_else(|| self.0.first_key_value())?.0;
        self.0.remove(&key)
    }
    fn waiting(&self) -> usize {
        self.0.len()
    }
}
