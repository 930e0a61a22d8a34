//! Faster reads and reduced wear (R+L).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;
use wordline_reliability::ProgramMode;

use super::history::{Guided, WriteOnly};

/// R+L: pages that are only written are written at medium cost with reduced wear. A page that is
/// only read is rewritten at high cost in idle time, unless it already has high cost. The first
/// write of a page has high cost; writes of pages that are both read and written have medium cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RL {
    /// Number of accesses to a page that are considered, including the current one.
    #[schemars(range(min = 1, max = 3))]
    pub window: u32,
    /// Program mode of data older than the run: `low`, `medium`, `high` or `reduced`.
    pub preloaded: ProgramMode,
}

impl Default for RL {
    fn default() -> Self {
        Self {
            window: 2,
            preloaded: ProgramMode::High,
        }
    }
}

impl Cited for RL {
    const PAPER: &'static str = "Q. Li, L. Shi, C. Gao, Y. Di, C. J. Xue, Access Characteristic Guided Read and Write Regulation on Flash based Storage Systems, section 4.2";
}

/// Access histories of all pages.
pub type State = Guided<RL>;

impl State {
    pub(super) fn new(policy: &RL, user_pages: u32) -> Self {
        Self::of(policy.window, policy.preloaded, user_pages)
    }
}

impl WriteOnly for RL {
    fn mode(_queued: bool) -> ProgramMode {
        ProgramMode::Reduced
    }
}
