//! Shortest seek time first (SSTF).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_kernel::slot::Cited;

use super::{ByLbn, Order, Waiting, insert};
use crate::extent::Extent;

/// Serves the request whose first sector is nearest, by number, to the end of the request served
/// last. Ties go to the one that arrived first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sstf {}

impl Cited for Sstf {
    const PAPER: &'static str =
        "P. Denning, Effects of scheduling on file memory operations, AFIPS 1967";
}

/// Waiting requests, ordered by first sector.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State(ByLbn);

impl State {
    pub(super) fn new(_policy: &Sstf) -> Self {
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
        let from = served.end();
        let above = self.0.range((from, 0)..).next().map(|(key, _)| *key);
        let below = self.0.range(..(from, 0)).next_back();
        let below = below.and_then(|(key, _)| self.0.range((key.0, 0)..).next());
        let keys = [above, below.map(|(key, _)| *key)];
        let key = keys
            .into_iter()
            .flatten()
            .min_by_key(|(lbn, place)| (lbn.abs_diff(from), *place))?;
        self.0.remove(&key)
    }
    fn waiting(&self) -> usize {
        self.0.len()
    }
}
