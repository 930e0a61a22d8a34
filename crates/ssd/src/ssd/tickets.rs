//! Requests between the host and the device.

use serde::{Deserialize, Serialize};
use wordline_block::{Request, Ticket};
use wordline_kernel::Time;

use crate::observation::PageParts;

/// A request that the host has handed over.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Outstanding {
    pub(super) request: Request,
    pub(super) submitted: Time,
    pub(super) parts: PageParts,
}

/// Requests under way between the host and the device.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Tickets {
    pub(super) outstanding: Vec<Outstanding>,
    pub(super) vacant: Vec<Ticket>,
    /// Requests that have begun and are not complete.
    pub(super) begun: u32,
    /// Complete requests that the host has not been told of yet.
    pub(super) complete: Vec<Ticket>,
}

impl Tickets {
    #[inline]
    pub(super) fn issue(&mut self, now: Time, request: Request) -> Ticket {
        if let Some(ticket) = self.vacant.pop() {
            // The rest is set when the request is done.
            let outstanding = &mut self.outstanding[ticket as usize];
            outstanding.request = request;
            outstanding.submitted = now;
            return ticket;
        }
        self.outstanding.push(Outstanding {
            request,
            submitted: now,
            parts: PageParts::NONE,
        });
        self.outstanding.len() as Ticket - 1
    }
}
