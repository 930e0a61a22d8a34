//! Requests in the device, with the number of their unfinished pages.

use serde::{Deserialize, Serialize};
use wordline_block::Ticket;

use crate::observation::PageComponents;

/// A request whose pages are all done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Done {
    /// Ticket of the request.
    pub ticket: Ticket,
    /// Latency components in the device: those of the page that finished last.
    pub parts: PageComponents,
}

/// Requests in progress.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Requests {
    /// Unfinished pages of each request, by ticket. Count.
    remaining: Vec<u32>,
    serving: u32,
    /// Finished requests, in order; the owner clears the list.
    pub done: Vec<Done>,
}

impl Requests {
    /// Starts a request with this number of pages.
    #[inline]
    pub fn begin(&mut self, ticket: Ticket, pages: u32) {
        let place = ticket as usize;
        if self.remaining.len() <= place {
            self.remaining.resize(place + 1, 0);
        }
        self.remaining[place] = pages;
        self.serving += 1;
    }
    /// Finishes a page of a request; returns `true` if it was the last.
    #[inline]
    pub fn page_done(&mut self, ticket: Ticket) -> bool {
        let remaining = &mut self.remaining[ticket as usize];
        *remaining -= 1;
        *remaining == 0
    }
    /// Ends a request; returns `true` if it was the last in the device.
    #[inline]
    pub fn end(&mut self) -> bool {
        self.serving -= 1;
        self.serving == 0
    }
    /// Returns the number of requests in progress.
    #[inline]
    pub fn serving(&self) -> u32 {
        self.serving
    }
}
