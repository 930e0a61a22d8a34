//! Requests of the host, and those of the DRAM buffer to the flash.

use serde::{Deserialize, Serialize};
use wordline_block::{Request, Ticket};
use wordline_kernel::Time;

use crate::observation::PageComponents;

/// A submitted request, or one of the DRAM buffer to the flash.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Outstanding {
    pub(super) request: Request,
    pub(super) submitted: Time,
    pub(super) parts: PageComponents,
}

/// Requests in progress: of the host, and of the DRAM buffer to the flash.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Tickets {
    pub(super) outstanding: Vec<Outstanding>,
    pub(super) vacant: Vec<Ticket>,
    /// Host requests that have started and are not complete. Count.
    pub(super) begun: u32,
    /// Completed requests that are not yet reported to the host.
    pub(super) complete: Vec<Ticket>,
}

impl Tickets {
    #[inline]
    pub(super) fn issue(&mut self, now: Time, request: Request) -> Ticket {
        if let Some(ticket) = self.vacant.pop() {
            // The other fields are set when the request is done.
            let outstanding = &mut self.outstanding[ticket as usize];
            outstanding.request = request;
            outstanding.submitted = now;
            return ticket;
        }
        self.outstanding.push(Outstanding {
            request,
            submitted: now,
            parts: PageComponents::NONE,
        });
        self.outstanding.len() as Ticket - 1
    }
}
