//! Fixed program mode for all pages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::slot::Cited;
use wordline_reliability::ProgramMode;

use super::{Characteristic, Graded, Regulate, Storage};
use crate::lpn::Lpn;

/// Every page is programmed in the same mode: `medium` is the traditional scheme, `low` and `high`
/// are its extremes (LCW/HCR and HCW/LCR), and `reduced` only reduces wear.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fixed {
    /// Mode of every page, including data older than the run: `low`, `medium`, `high` or `reduced`.
    pub mode: ProgramMode,
}

impl Cited for Fixed {
    const PAPER: &'static str = "";
}

/// Configured mode.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State(ProgramMode);

impl State {
    pub(super) fn new(policy: &Fixed, _user_pages: u32) -> Self {
        Self(policy.mode)
    }
    pub(super) fn memory(_user_pages: u32, _fill: Fill) -> Vec<Table> {
        Vec::new()
    }
}

impl Regulate for State {
    fn preloaded(&self) -> ProgramMode {
        self.0
    }
    fn write(&self, _page: Lpn, _found: Characteristic, _queued: bool) -> Graded {
        Graded::once(self.0)
    }
    fn storage(&self) -> Storage {
        Storage::default()
    }
}
