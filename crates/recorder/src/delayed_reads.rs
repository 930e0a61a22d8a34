//! Response times of reads, grouped by the flash events that delayed the reads.

use serde::{Deserialize, Serialize};
use wordline_block::ReadEvents;
use wordline_kernel::Time;
use wordline_observe::Histogram;

/// Response times of reads by the flash events that delayed them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DelayedReads {
    /// Reads that no flash event delayed.
    pub nothing: Histogram,
    /// Reads delayed by each of [`ReadEvents::ALL`]; a read counts for each event that delayed it.
    pub each: [Histogram; ReadEvents::ALL.len()],
}

impl DelayedReads {
    pub(super) fn add(&mut self, met: ReadEvents, response: Time) {
        if met.is_nothing() {
            self.nothing.record(response);
            return;
        }
        for (one, times) in ReadEvents::ALL.into_iter().zip(&mut self.each) {
            if met.has(one) {
                times.record(response);
            }
        }
    }
}
