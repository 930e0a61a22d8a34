//! Reads by what they have met.

use serde::{Deserialize, Serialize};
use wordline_block::ReadEvents;
use wordline_kernel::Time;
use wordline_observe::Histogram;

/// Response times of reads by what they have met.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ReadsMet {
    /// Of those that have met nothing.
    pub nothing: Histogram,
    /// By [`ReadEvents::ALL`], of those that have met that, whatever else they have.
    pub each: [Histogram; ReadEvents::ALL.len()],
}

impl ReadsMet {
    pub(super) fn add(&mut self, met: ReadEvents, response: Time) {
        if met.is_nothing() {
            self.nothing.record(response);
        }
        for (one, times) in ReadEvents::ALL.into_iter().zip(&mut self.each) {
            if met.has(one) {
                times.record(response);
            }
        }
    }
}
