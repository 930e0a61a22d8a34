//! Requests, and what they ask of each page.

use serde::{Deserialize, Serialize};
use wordline_block::{Parts, ReadEvents, Ticket};
use wordline_cache::Entry;
use wordline_kernel::Time;

/// A request of which all pages are done.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Served {
    /// As it was begun.
    pub ticket: Ticket,
    /// Where its time went since then.
    pub parts: Parts,
    /// Whether the flash could not read a page of it.
    pub failed: bool,
    /// What reads of its pages have met in the flash.
    pub met: ReadEvents,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    Read,
    Write,
    Trim,
    Flush,
}

/// What a request asks of one page.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) ticket: Ticket,
    pub(crate) entry: Entry,
    pub(crate) kind: Kind,
    pub(crate) from: u32,
    pub(crate) bytes: u32,
    /// Whether it is done only when the flash holds it.
    pub(crate) durable: bool,
    /// The version of the page that it wrote.
    pub(crate) version: u32,
    /// Since when it waits.
    pub(crate) since: Time,
    pub(crate) parts: Parts,
    /// Whether the flash could not read what it asks for.
    pub(crate) failed: bool,
    /// What that has met in the flash.
    pub(crate) met: ReadEvents,
}

impl Part {
    /// What concerns no page.
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
            parts: Parts::default(),
            failed: false,
            met: ReadEvents::default(),
        }
    }
}
