//! Faster reads, faster writes when requests wait, and otherwise reduced wear (R+W+L).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;
use wordline_reliability::ProgramMode;

use super::history::{Guided, WriteOnly};

/// R+W+L: pages that are only written are written at low cost while operations of other requests
/// wait, and otherwise at medium cost with reduced wear. A page that is only read is rewritten at
/// high cost in idle time, unless it already has high cost. The first write of a page has high
/// cost; writes of pages that are both read and written have medium cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RWL {
    /// Number of accesses to a page that are considered, including the current one.
    #[schemars(range(min = 1, max = 3))]
    pub window: u32,
    /// Program mode of data older than the run: `low`, `medium`, `high` or `reduced`.
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

/// Access histories of all pages.
pub type State = Guided<RWL>;

impl State {
    pub(super) fn new(policy: &RWL, user_pages: u32) -> Self {
        Self::of(policy.window, policy.preloaded, user_pages)
    }
}

impl WriteOnly for RWL {
    const ASKS_FOR_QUEUE: bool = true;
    fn mode(queued: bool) -> ProgramMode {
        if queued {
            ProgramMode::Low
        } else {
            ProgramMode::Reduced
        }
    }
}
