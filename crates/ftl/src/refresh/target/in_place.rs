//! Refresh in place.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Return;

/// The block itself. Its valid pages are copied to a free block selected by `ftl.wear`, the block
/// is erased, the pages are copied back in order from its first page, and the other block is
/// erased. This takes two copies per page and two erases, so that a power cut never finds data
/// missing from flash. The thesis instead keeps the pages in memory during the erase, which takes
/// half of these operations but loses the pages in a power cut. The remaining pages of the block
/// stay unused until GC reclaims the block. Frequently read data wears out its own block, and
/// `ftl.wear` spreads the same number of erases over other blocks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct InPlace {}

impl Cited for InPlace {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, section 5.4.4";
}

impl Return for InPlace {
    fn returns(&self) -> bool {
        true
    }
}
