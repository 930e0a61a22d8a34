//! Back to where it was.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Return;

/// Back to its block. The valid pages are copied to a free block that `ftl.wear` chooses, their block is erased, they are copied back, one after
/// the other from its first page on, and the other block is erased: two copies a page and two erases, so that no power cut finds data that is
/// nowhere in the flash. The source holds the pages in memory while their block is erased, which takes half of that and loses them with the
/// power. Pages that the block has beyond them stay unused until it is collected. Data that is read much wears its own block out, and as
/// many erases again are spread by `ftl.wear`.
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
