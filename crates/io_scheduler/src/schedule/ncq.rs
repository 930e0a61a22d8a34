//! First-in, first-out queue with head-of-line blocking by page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::in_order::Conflict;
use super::page_by_page::PageByPage;
use super::{Changed, EntryId, Schedule, View};

/// First in, first out, page by page. The first page in the queue waits while its die is busy or
/// while another request uses its resource (`conflict`; by default its channel), and all later
/// pages wait with it. A request uses a resource from the commit of a page there until that page is
/// done ("cannot commit flash-transactions until the previous requests are completed, when there is
/// a conflict in a flash or channel").
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ncq {
    /// Resource that two requests in flight must not share: a `die`, a `package` or a `channel`.
    pub conflict: Conflict,
    /// Whether pages committed at one instant never conflict, so that those of different requests
    /// may share a command ("constructed by aggregating multiple incoming requests at runtime",
    /// section 3.5.1).
    pub gathers: bool,
}

impl Default for Ncq {
    fn default() -> Self {
        Self {
            conflict: Conflict::Channel,
            gathers: true,
        }
    }
}

impl Cited for Ncq {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, sections 3.4 and 3.5";
}

/// State of the queue.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State(PageByPage);

impl State {
    /// Creates the state before the first request.
    pub fn new(policy: &Ncq) -> Self {
        Self(PageByPage::new(policy.conflict, policy.gathers))
    }
}

impl Schedule for State {
    fn choose(&mut self, view: &View<'_>, changed: &mut Changed, group: &mut Vec<EntryId>) {
        self.0.choose(view, changed, group);
        self.0.note(view, group);
    }
    fn keeps_places(&self) -> bool {
        false
    }
}
