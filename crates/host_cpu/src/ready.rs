//! Requests that wait for the store to take them.
//!
//! The store says which streams it takes, so a queue for each stream is enough: of each, only the first request is asked about. What a
//! request costs does not depend on how many wait behind it.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use wordline_block::Ticket;
use wordline_kernel::Time;

/// The place of a request in the order in which all became ready.
pub(crate) type Place = u64;

/// A request that waits.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Waiting {
    place: Place,
    ticket: Ticket,
    since: Time,
}

/// The requests that wait, by stream, each in the order in which they became ready.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Ready {
    next_place: Place,
    lines: Vec<VecDeque<Waiting>>,
    /// The stream of the first request of each line, by the place of that request.
    heads: BTreeMap<Place, u32>,
}

impl Ready {
    /// A request of a stream waits, behind all others.
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
    /// The first request of a stream that became ready at or after a place: its place and its stream.
    pub fn head_from(&self, place: Place) -> Option<(Place, u32)> {
        let (&place, &stream) = self.heads.range(place..).next()?;
        Some((place, stream))
    }
    /// Takes the first request of a stream: which, and since when it has waited.
    pub fn pop(&mut self, stream: u32) -> Option<(Ticket, Time)> {
        let line = &mut self.lines[stream as usize];
        let first = line.pop_front()?;
        self.heads.remove(&first.place);
        if let Some(next) = line.front() {
            self.heads.insert(next.place, stream);
        }
        Some((first.ticket, first.since))
    }
    /// Forgets all of them.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}
