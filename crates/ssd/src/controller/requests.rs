//! Requests in the device, and how many of their pages are not done.

use serde::{Deserialize, Serialize};
use wordline_block::Ticket;

use crate::observation::PageParts;

/// A request of which all pages are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Done {
    /// The request.
    pub ticket: Ticket,
    /// Where its time in the device went: the parts of the page that was done last.
    pub parts: PageParts,
}

/// Requests that have begun and are not done.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Requests {
    /// By ticket: pages of the request that are not done yet.
    remaining: Vec<u32>,
    serving: u32,
    /// Requests that are done with, in the order in which they were; the owner clears it.
    pub done: Vec<Done>,
}

impl Requests {
    /// A request of so many pages begins.
    #[inline]
    pub fn begin(&mut self, ticket: Ticket, pages: u32) {
        let place = ticket as usize;
        if self.remaining.len() <= place {
            self.remaining.resize(place + 1, 0);
        }
        self.remaining[place] = pages;
        self.serving += 1;
    }
    /// A page of a request is done; whether it is the last.
    #[inline]
    pub fn page_done(&mut self, ticket: Ticket) -> bool {
        let remaining = &mut self.remaining[ticket as usize];
        *remaining -= 1;
        *remaining == 0
    }
    /// A request ends; whether it was the last in the device.
    #[inline]
    pub fn end(&mut self) -> bool {
        self.serving -= 1;
        self.serving == 0
    }
    /// How many there are.
    #[inline]
    pub fn serving(&self) -> u32 {
        self.serving
    }
}
