//! SLC cache with dedicated and lent blocks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Caches, Size};

/// Dedicated blocks as in `static`, which are used first, and lent blocks as in `dynamic`. The
/// dedicated blocks remain, regardless of how full the device is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Hybrid {
    /// Share of a plane's blocks that are dedicated, rounded down to whole blocks, but at least one
    /// block unless the ratio is 0. Ratio.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub static_ratio: f64,
    /// Maximum share of a plane's blocks that are lent, rounded in the same way. Ratio.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub dynamic_ratio: f64,
    /// Idle time of the device before blocks are folded. Milliseconds.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub fold_after_ms: f64,
}

impl Default for Hybrid {
    fn default() -> Self {
        Self {
            static_ratio: 0.03,
            dynamic_ratio: 0.5,
            fold_after_ms: 100.0,
        }
    }
}

impl Cited for Hybrid {
    const PAPER: &'static str = "";
}

impl Caches for Hybrid {
    fn size(&self) -> Option<Size> {
        Some(Size {
            dedicated_ratio: self.static_ratio,
            lent_ratio: self.dynamic_ratio,
            fold_after_ms: self.fold_after_ms,
        })
    }
}
