//! SLC cache of fixed size.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Caches, Size};

/// Some blocks of every plane are used in single-level mode only; they are part of
/// over-provisioning. Host pages go to these blocks while one has room, and to normal blocks
/// otherwise. When the device has been idle for `fold_after_ms`, full blocks are folded, the oldest
/// first: their valid data moves to normal blocks, one flash operation at a time, with pauses for
/// requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Static {
    /// Share of a plane's blocks that are dedicated, rounded down to whole blocks, but at least one
    /// block unless the ratio is 0. Ratio.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub ratio: f64,
    /// Idle time of the device before blocks are folded. Milliseconds.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub fold_after_ms: f64,
}

impl Default for Static {
    fn default() -> Self {
        Self {
            ratio: 0.03,
            fold_after_ms: 100.0,
        }
    }
}

impl Cited for Static {
    const PAPER: &'static str = "";
}

impl Caches for Static {
    fn size(&self) -> Option<Size> {
        Some(Size {
            dedicated_ratio: self.ratio,
            lent_ratio: 0.0,
            fold_after_ms: self.fold_after_ms,
        })
    }
}
