//! Requests, and their parts per page.

use serde::{Deserialize, Serialize};
use wordline_block::{LatencyComponents, ReadEvents, Ticket};
use wordline_cache::Entry;
use wordline_kernel::Time;

/// Completed request.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Served {
    /// Ticket of the request.
    pub ticket: Ticket,
    /// Latency components since the start of the request.
    pub parts: LatencyComponents,
    /// Whether the request ended with an error. It was refused, the flash could not read, write or
    /// discard one of its pages, or it is a flush while a page is lost.
    pub failed: bool,
    /// Flash events that delayed reads of the request's pages.
    pub met: ReadEvents,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    Read,
    Write,
    Trim,
    Flush,
}

/// Part of a request for one page.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) ticket: Ticket,
    pub(crate) entry: Entry,
    pub(crate) kind: Kind,
    pub(crate) from: u32,
    pub(crate) bytes: u32,
    /// Whether the part completes only when the flash holds its data.
    pub(crate) durable: bool,
    /// Version of the page's content that the part wrote.
    pub(crate) version: u32,
    /// Start of the part's current wait.
    pub(crate) since: Time,
    pub(crate) parts: LatencyComponents,
    /// Whether the part ends with an error ([`Served::failed`]).
    pub(crate) failed: bool,
    /// Flash events that delayed the part.
    pub(crate) met: ReadEvents,
}

impl Part {
    /// Creates a part without a page.
    pub(crate) fn nothing(ticket: Ticket, now: Time) -> Self {
        Self {
            ticket,
            entry: Entry(0),
            kind: Kind::Flush,
            from: 0,
            bytes: 0,
            durable: true,
            version: 0,
            since: now,
            parts: LatencyComponents::default(),
            failed: false,
            met: ReadEvents::default(),
        }
    }
}
