//! Random power cuts.

use serde::{Deserialize, Serialize};
use wordline_config::Plan;
use wordline_kernel::Rng;

/// Times of power cuts: after a random request and a random number of further events.
#[derive(Serialize, Deserialize)]
pub(super) struct PowerCuts {
    pub(super) random: Rng,
    pub(super) every: u64,
    /// Number of issued requests, counted from the start of the run, after which the power fails
    /// next.
    pub(super) after_requests: u64,
    /// Number of the event at which the power fails; `None` until those requests are issued.
    pub(super) at_event: Option<u64>,
}

/// Upper limit of the number of events between the random request and the cut.
pub(super) const EVENTS_TO_CUT: u64 = 256;

impl PowerCuts {
    pub(super) fn new(plan: &Plan, every: u64) -> Self {
        let mut cuts = Self {
            random: Rng::new(plan.seed, "power"),
            every,
            after_requests: 0,
            at_event: None,
        };
        cuts.draw(0);
        cuts
    }
    pub(super) fn draw(&mut self, issued: u64) {
        self.after_requests = issued + 1 + self.random.below(2 * self.every);
        self.at_event = None;
    }
    /// Returns `true` if the power fails now.
    pub(super) fn is_due(&mut self, issued: u64, events: u64) -> bool {
        if issued < self.after_requests {
            return false;
        }
        let random = &mut self.random;
        let at = *self
            .at_event
            .get_or_insert_with(|| events + random.below(EVENTS_TO_CUT));
        events >= at
    }
}
