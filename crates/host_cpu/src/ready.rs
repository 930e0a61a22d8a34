//! Requests that wait for the store to accept them.
//!
//! The store accepts requests per stream, so there is one queue per stream, and only the first
//! request of a queue is tried. The cost of a request does not depend on the number of requests
//! behind it.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use wordline_block::Ticket;
use wordline_kernel::Time;

/// Position of a request in the order in which all requests became ready.
pub(crate) type Place = u64;

/// A waiting request and the start of its wait.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Waiting {
    place: Place,
    ticket: Ticket,
    since: Time,
}

/// Waiting requests by stream, each in the order in which they became ready.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Ready {
    next_place: Place,
    lines: Vec<VecDeque<Waiting>>,
    /// Stream of each non-empty queue, by the position of the queue's first request.
    heads: BTreeMap<Place, u32>,
}

impl Ready {
    /// Appends a request of a stream.
    pub fn push(&mut self, stream: u32, ticket: Ticket, since: Time) {
        let line = stream as usize;
        if self.lines.len() <= line {
            self.lines.resize_with(line + 1, VecDeque::new);
        }
        let place = self.next_place;
        self.next_place += 1;
        if self.lines[line].is_empty() {
            self.heads.insert(place, stream);
        }
        self.lines[line].push_back(Waiting {
            place,
            ticket,
            since,
        });
    }
    /// Returns position and stream of the earliest request at or after `place` that is first in its
    /// queue, or `None` if there is none.
    pub fn head_from(&self, place: Place) -> Option<(Place, u32)> {
        let (&place, &stream) = self.heads.range(place..).next()?;
        Some((place, stream))
    }
    /// Removes the first request of a stream. Returns its ticket and the start of its wait, or
    /// `None` if no request of the stream waits.
    pub fn pop(&mut self, stream: u32) -> Option<(Ticket, Time)> {
        let line = &mut self.lines[stream as usize];
        let first = line.pop_front()?;
        self.heads.remove(&first.place);
        if let Some(next) = line.front() {
            self.heads.insert(next.place, stream);
        }
        Some((first.ticket, first.since))
    }
    /// Drops all requests.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}
