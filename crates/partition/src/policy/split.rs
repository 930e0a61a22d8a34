//! Two lists of fixed size.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::memory::Table;
use wordline_kernel::slot::Cited;

use super::Divide;
use crate::space::{Sizes, Space};

/// A read list and a write list of fixed sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Split {
    /// Share of the cached pages that the read list gets. Ratio, 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub read_ratio: f64,
}

impl Default for Split {
    fn default() -> Self {
        Self { read_ratio: 0.5 }
    }
}

impl Cited for Split {
    const PAPER: &'static str =
        "Kgil, Roberts and Mudge, \"Improving NAND Flash Based Disk Caches\", ISCA 2008";
}

/// State of the policy: the initial sizes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    sizes: Sizes,
}

impl State {
    pub(super) fn new(policy: &Split, space: &Space, _seed: u64) -> Self {
        Self {
            sizes: Sizes::split(space.first_pages(), policy.read_ratio),
        }
    }
    pub(super) fn memory(_policy: &Split, _space: &Space) -> Vec<Table> {
        Vec::new()
    }
}

impl Divide for State {
    fn is_split(&self) -> bool {
        true
    }
    fn start(&self) -> Sizes {
        self.sizes
    }
}
