//! Reads are made faster, and wear is reduced (R+L).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;
use wordline_reliability::ProgramMode;

use super::history::{Guided, WriteOnly};

/// R+L: pages that are only written are written at medium cost with reduced wear.
/// A page that is only read is written again in idle time, at high cost, unless it was so. First writes
/// are of high cost; those of pages that are both read and written, of medium cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RL {
    /// Accesses to a page that are looked at, the present one included. Count.
    #[schemars(range(min = 1, max = 3))]
    pub window: u32,
    /// How pages were programmed that were there before the run: `low`, `medium`, `high`, `reduced`.
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

/// The histories of all pages.
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
