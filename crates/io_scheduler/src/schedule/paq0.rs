//! Physically addressed queueing (PAQ) with plane packing only.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::Time;
use wordline_kernel::slot::Cited;
use wordline_nand::Operation;

use super::in_order::{Conflict, Grain, InOrder, Packs};
use super::page_by_page::PageByPage;
use super::{Changed, EntryId, Schedule, View};
use wordline_block::Ticket;

/// Reads are scheduled as with `vaq`, but below the FTL: operations that wait for the die of a page
/// being read, on other planes and within the plane rule, join its command, regardless of their
/// request. Writes do not wait unless `holds_writes` is set: their pages are allocated on arrival.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Paq0 {
    /// Resource that two requests in flight must not share: a `die`, a `package` or a `channel`.
    pub conflict: Conflict,
    /// Extent of head-of-line blocking. `request`: a request starts when no other uses any resource
    /// that it needs. `page`: a page starts when its die is idle and no other request uses the
    /// resource that it needs; until then, all later pages wait.
    pub grain: Grain,
    /// Whether writes wait in the queue with the reads and are packed in the same way, with writes
    /// of any request (sections 6.3 and 6.5.2: plane packing alone, otherwise like `vaq`).
    /// Otherwise writes are issued to their dies at once.
    pub holds_writes: bool,
    /// Time to search the clump table, once for all operations that are committed together. The
    /// default is the time for 64 packages on a 72 MHz processor (section 6.6.3). Nanoseconds.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub search_ns: u32,
}

impl Default for Paq0 {
    fn default() -> Self {
        Self {
            conflict: Conflict::default(),
            grain: Grain::default(),
            holds_writes: false,
            search_ns: 1770,
        }
    }
}

impl Cited for Paq0 {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, section 6.4.4";
}

/// State of the queue.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    line: Line,
    packs: Packs,
    holds_writes: bool,
    search: Time,
}

/// Queue that blocks by request or by page.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Line {
    Requests(InOrder),
    Pages(PageByPage),
}

impl Line {
    fn new(grain: Grain, conflict: Conflict, packs: Packs) -> Self {
        match grain {
            Grain::Request => Self::Requests(InOrder::new(conflict, packs)),
            Grain::Page => Self::Pages(PageByPage::new(conflict, false)),
        }
    }
}

impl State {
    /// Creates the state before the first request.
    pub fn new(policy: &Paq0) -> Self {
        let packs = if policy.holds_writes {
            Packs::All
        } else {
            Packs::Reads
        };
        Self {
            line: Line::new(policy.grain, policy.conflict, packs),
            packs,
            holds_writes: policy.holds_writes,
            search: Time::from_ns(policy.search_ns.into()),
        }
    }
}

impl Schedule for State {
    fn holds(&self, operation: Operation) -> bool {
        self.holds_writes || operation == Operation::Read
    }
    fn choose(&mut self, view: &View<'_>, changed: &mut Changed, group: &mut Vec<EntryId>) {
        match &mut self.line {
            Line::Requests(line) => line.choose(view, changed, group),
            Line::Pages(line) => {
                line.choose(view, changed, group);
                self.packs.beside(view, group);
                line.note(view, group);
            }
        }
    }
    fn done(&mut self, ticket: Ticket) {
        if let Line::Requests(line) = &mut self.line {
            line.done(ticket);
        }
    }
    fn search(&self) -> Time {
        self.search
    }
    fn packs(&self) -> bool {
        true
    }
}
