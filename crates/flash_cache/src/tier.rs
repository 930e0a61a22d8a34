//! What a cached store has asked of one of its two tiers.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use wordline_block::{Request, Ticket};
use wordline_ftl::Lpn;

/// What a request to a tier is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Task {
    /// A page of a read, from flash.
    Hit {
        ticket: Ticket,
        page: u64,
        copy: Lpn,
        /// Whether nothing but the flash held the page as it was.
        dirty: bool,
    },
    /// The pages that a read missed, from below.
    Fetch { fetch: u32 },
    /// A page that was fetched, to flash.
    Fill {
        fetch: u32,
        page: u64,
        copy: Lpn,
        waited: Option<u32>,
    },
    /// A write, a trim or a flush, below.
    Below { ticket: Ticket },
    /// A page of a write that also goes below, to flash.
    Update {
        ticket: Ticket,
        page: u64,
        copy: Lpn,
    },
    /// A page of a write, to flash only.
    Write {
        ticket: Ticket,
        page: u64,
        copy: Lpn,
        /// Whether nothing but the flash held the page before.
        dirty: bool,
        waited: Option<u32>,
    },
    /// What a write leaves of a page, from below.
    Rest { waiting: u32 },
    /// The same from flash.
    RestInFlash { waiting: u32, page: u64 },
    /// A page of records, to flash.
    Record { copy: Lpn },
    /// A page that is destaged, from flash.
    Victim { destage: u32, page: u64 },
    /// Pages of a group that is destaged, below: so many from one on; or the flush behind them all.
    Destage {
        destage: u32,
        first: u32,
        pages: u32,
    },
}

/// A request to a tier, and what it is for.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Sub {
    pub request: Request,
    pub task: Task,
}

/// The requests to a tier.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Tier {
    /// Those that it has not taken yet, first come, first served; the flash takes all at once.
    pub line: VecDeque<Sub>,
    /// By the tier's ticket: those that it has.
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
    /// The tier is done with a request: which.
    pub fn done(&mut self, ticket: Ticket) -> Option<Sub> {
        let sub = self.taken[ticket as usize].take();
        self.under_way -= u32::from(sub.is_some());
        sub
    }
    /// Forgets all that was asked of it: the tickets of what it has.
    pub fn forget(&mut self) -> Vec<Ticket> {
        let taken = std::mem::take(self).taken;
        let tickets = (0..).zip(taken);
        tickets
            .filter_map(|(ticket, sub)| sub.map(|_| ticket))
            .collect()
    }
    /// Whether nothing is asked of it.
    pub fn is_idle(&self) -> bool {
        self.under_way == 0 && self.line.is_empty()
    }
}
