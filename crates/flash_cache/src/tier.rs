//! Operations submitted to one of the two tiers of a flash cache.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use wordline_block::{Request, Ticket};
use wordline_ftl::Lpn;

/// Purpose of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Task {
    /// Read of a hit from flash.
    Hit {
        ticket: Ticket,
        page: u64,
        copy: Lpn,
        /// Whether the flash had the only current copy of the page when the read was issued.
        dirty: bool,
    },
    /// Read of the missed pages from the backing store.
    Fetch { fetch: u32 },
    /// Program of a fetched page.
    Fill {
        fetch: u32,
        page: u64,
        copy: Lpn,
        waited: Option<u32>,
    },
    /// Write, TRIM or flush of a request on the backing store.
    Below { ticket: Ticket },
    /// Program of a page that is also written to the backing store.
    Update {
        ticket: Ticket,
        page: u64,
        copy: Lpn,
    },
    /// Program of a page that is written to flash only.
    Write {
        ticket: Ticket,
        page: u64,
        copy: Lpn,
        /// Whether the flash had the only current copy of the page before this write.
        dirty: bool,
        waited: Option<u32>,
    },
    /// Read of the rest of a partially written page from the backing store.
    Rest { waiting: u32 },
    /// Read of the rest of a partially written page from flash.
    RestInFlash { waiting: u32, page: u64 },
    /// Program of a record page.
    Record { copy: Lpn },
    /// Read from flash of a page that is being destaged.
    Victim { destage: u32, page: u64 },
    /// Write of destaged pages to the backing store, given the index of the first page and the
    /// number of pages, or the flush after the last write.
    Destage {
        destage: u32,
        first: u32,
        pages: u32,
    },
}

/// Operation of a tier with its purpose.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Sub {
    pub request: Request,
    pub task: Task,
}

/// Operations of a tier.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Tier {
    /// Operations that the tier has not accepted yet, in order of arrival. The flash accepts every
    /// operation immediately.
    pub line: VecDeque<Sub>,
    /// Accepted operations by ticket of the tier.
    taken: Vec<Option<Sub>>,
    under_way: u32,
}

impl Tier {
    pub fn take(&mut self, ticket: Ticket, sub: Sub) {
        let ticket = ticket as usize;
        if self.taken.len() <= ticket {
            self.taken.resize(ticket + 1, None);
        }
        self.taken[ticket] = Some(sub);
        self.under_way += 1;
    }
    /// Removes and returns the completed operation with this ticket.
    pub fn done(&mut self, ticket: Ticket) -> Option<Sub> {
        let sub = self.taken[ticket as usize].take();
        self.under_way -= u32::from(sub.is_some());
        sub
    }
    /// Drops all operations. Returns the tickets of the accepted operations.
    pub fn forget(&mut self) -> Vec<Ticket> {
        let taken = std::mem::take(self).taken;
        let tickets = (0..).zip(taken);
        tickets
            .filter_map(|(ticket, sub)| sub.map(|_| ticket))
            .collect()
    }
    /// Returns `true` if the tier has no operation.
    pub fn is_idle(&self) -> bool {
        self.under_way == 0 && self.line.is_empty()
    }
}
