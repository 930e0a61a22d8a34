//! Events and observations of a RAM disk.

use serde::{Deserialize, Serialize};
use wordline_block::{DeviceObservation, GcObservation, RequestObservation, Ticket};
use wordline_kernel::Digest;

/// Event of a RAM disk: completion of the request with this ticket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event(pub Ticket);

impl wordline_block::Event for Event {
    fn mix(self, digest: &mut Digest) {
        digest.mix(self.0.into());
    }
}

/// Observation of a RAM disk, which reports its requests and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation(pub RequestObservation);

impl DeviceObservation for Observation {
    #[inline]
    fn of_requests(self) -> Option<RequestObservation> {
        Some(self.0)
    }
}

impl GcObservation for Observation {
    fn collection_steps(&self) -> u32 {
        0
    }
}
