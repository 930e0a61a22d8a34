//! Reads are made faster, writes when requests wait, and else wear is reduced (R+W+L).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::slot::Cited;
use wordline_reliability::ProgramMode;

use super::history::History;
use super::{Characteristic, Graded, Regulate, Rewriting, Storage};
use crate::lpn::Lpn;

/// R+W+L: pages that are only written are written at low cost while operations of other requests wait, and else at medium cost
/// with reduced wear.
/// A page that is only read is written again in idle time, at high cost, unless it was so. First writes
/// are of high cost; those of pages that are both read and written, of medium cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RWL {
    /// Accesses to a page that are looked at, the present one included. Count.
    #[schemars(range(min = 1, max = 3))]
    pub window: u32,
    /// How pages were programmed that were there before the run: `low`, `medium`, `high`, `reduced`.
    pub preloaded: ProgramMode,
}

impl Default for RWL {
    fn default() -> Self {
        Self {
            window: 2,
            preloaded: ProgramMode::High,
        }
    }
}

impl Cited for RWL {
    const PAPER: &'static str = "Q. Li, L. Shi, C. Gao, Y. Di, C. J. Xue, Access Characteristic Guided Read and Write Regulation on Flash based Storage Systems, section 4.2";
}

/// The histories of all pages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    history: History,
    preloaded: ProgramMode,
}

impl State {
    pub(super) fn new(policy: &RWL, user_pages: u32) -> Self {
        Self {
            history: History::new(policy.window, user_pages),
            preloaded: policy.preloaded,
        }
    }
    pub(super) fn memory(user_pages: u32, fill: Fill) -> Vec<Table> {
        History::memory(user_pages, fill)
    }
}

impl Regulate for State {
    fn preloaded(&self) -> ProgramMode {
        self.preloaded
    }
    fn access(&mut self, page: Lpn, write: bool) -> Characteristic {
        self.history.access(page, write)
    }
    fn asks_for_queue(&self) -> bool {
        true
    }
    fn write(&self, _page: Lpn, found: Characteristic, queued: bool) -> Graded {
        Graded::once(match found {
            Characteristic::New => ProgramMode::High,
            Characteristic::WriteOnly if queued => ProgramMode::Low,
            Characteristic::WriteOnly => ProgramMode::Reduced,
            Characteristic::ReadOnly | Characteristic::Interleaved => ProgramMode::Medium,
        })
    }
    fn read(&self, _page: Lpn, found: Characteristic, mode: ProgramMode) -> bool {
        super::history::wants_high(found, mode)
    }
    fn rewriting(&self) -> Rewriting {
        Rewriting::Idle
    }
    fn storage(&self) -> Storage {
        self.history.storage()
    }
}
