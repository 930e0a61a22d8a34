//! Page types of four-bit cells.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::PageTypes;

/// Quad-level cells. The four pages of a word line are adjacent in the block: LSB, CSB, MSB and top
/// bit at offsets 4 n to 4 n + 3 (assumed; the order is vendor-specific).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Qlc {}

impl Cited for Qlc {
    const PAPER: &'static str = "";
}

impl PageTypes for Qlc {
    fn levels(&self) -> u8 {
        4
    }
    fn level(&self, offset: u32, _pages: u32) -> u8 {
        (offset % 4) as u8
    }
}
