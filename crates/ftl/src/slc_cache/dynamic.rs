//! SLC cache made of free blocks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Caches, Size};

/// Free blocks are lent to single-level mode as long as a plane has more free blocks than the GC
/// threshold, so the cache shrinks as valid data grows. Host pages go to lent blocks while one has
/// room, and to normal blocks otherwise. Full blocks are folded and returned, the oldest first:
/// when the device has been idle for `fold_after_ms`, and as the first choice of GC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dynamic {
    /// Maximum share of a plane's blocks that are lent, rounded down to whole blocks, but at least
    /// one block unless the ratio is 0. Ratio.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub ratio: f64,
    /// Idle time of the device before blocks are folded. Milliseconds.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub fold_after_ms: f64,
}

impl Default for Dynamic {
    fn default() -> Self {
        Self {
            ratio: 0.5,
            fold_after_ms: 100.0,
        }
    }
}

impl Cited for Dynamic {
    const PAPER: &'static str = "Micron Technology, Optimized Client Computing With Dynamic Write Acceleration, technical marketing brief, 2014";
}

impl Caches for Dynamic {
    fn size(&self) -> Option<Size> {
        Some(Size {
            dedicated_ratio: 0.0,
            lent_ratio: self.ratio,
            fold_after_ms: self.fold_after_ms,
        })
    }
}
