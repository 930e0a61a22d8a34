//! Counts of host operations that wait for their dies or the scheduler, by request.

use serde::{Deserialize, Serialize};
use wordline_block::Ticket;

/// Waiting operations, in total and by request. Count.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Waiting {
    all: u32,
    by_ticket: Vec<u32>,
}

impl Waiting {
    /// Counts an operation of a request that starts to wait.
    pub(super) fn comes(&mut self, ticket: Ticket) {
        let place = ticket as usize;
        if self.by_ticket.len() <= place {
            self.by_ticket.resize(place + 1, 0);
        }
        self.by_ticket[place] += 1;
        self.all += 1;
    }
    /// Removes an operation of a request that no longer waits from the counts.
    pub(super) fn begins(&mut self, ticket: Ticket) {
        self.by_ticket[ticket as usize] -= 1;
        self.all -= 1;
    }
    /// Returns `true` if an operation of another request waits.
    pub(super) fn of_others(&self, ticket: Ticket) -> bool {
        self.all > self.by_ticket.get(ticket as usize).copied().unwrap_or(0)
    }
}
