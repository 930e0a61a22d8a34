//! Program mode that depends on whether requests wait.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::{Fill, Table};
use wordline_kernel::slot::Cited;
use wordline_reliability::ProgramMode;

use super::{Characteristic, Graded, Regulate, Rewriting, Storage};
use crate::lpn::Lpn;

/// Writes have low cost while operations of other requests wait, and high cost otherwise. Pages
/// written at low cost are rewritten at high cost in idle time; the idle time is an assumption,
/// because the paper does not state when pages are rewritten.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Li {
    /// Low-cost pages to rewrite: `all` of them, or those that are `read`.
    pub rewrite: Rewritten,
    /// Program mode of data older than the run: `low`, `medium`, `high` or `reduced`.
    pub preloaded: ProgramMode,
}

/// Pages to rewrite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rewritten {
    /// Every page written at low cost.
    #[default]
    All,
    /// Low-cost pages that are read.
    Read,
}

impl Default for Li {
    fn default() -> Self {
        Self {
            rewrite: Rewritten::All,
            preloaded: ProgramMode::Medium,
        }
    }
}

impl Cited for Li {
    const PAPER: &'static str = "Q. Li, L. Shi, C. Gao, K. Wu, C. J. Xue, Q. Zhuge, E. H.-M. Sha, Maximizing IO performance via conflict reduction for flash memory storage systems, DATE 2015";
}

/// Configured parameters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    rewrite: Rewritten,
    preloaded: ProgramMode,
}

impl State {
    pub(super) fn new(policy: &Li, _user_pages: u32) -> Self {
        Self {
            rewrite: policy.rewrite,
            preloaded: policy.preloaded,
        }
    }
    pub(super) fn memory(_user_pages: u32, _fill: Fill) -> Vec<Table> {
        Vec::new()
    }
}

impl Regulate for State {
    fn preloaded(&self) -> ProgramMode {
        self.preloaded
    }
    fn asks_for_queue(&self) -> bool {
        true
    }
    fn write(&self, _page: Lpn, _found: Characteristic, queued: bool) -> Graded {
        if !queued {
            return Graded::once(ProgramMode::High);
        }
        Graded {
            mode: ProgramMode::Low,
            rewrite: self.rewrite == Rewritten::All,
        }
    }
    fn read(&self, _page: Lpn, _found: Characteristic, mode: ProgramMode) -> bool {
        self.rewrite == Rewritten::Read && mode == ProgramMode::Low
    }
    fn rewriting(&self) -> Rewriting {
        Rewriting::Idle
    }
    fn storage(&self) -> Storage {
        Storage {
            bits_per_page: 1,
            bytes: 0,
        }
    }
}
