//! Page types of three-bit cells.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::PageTypes;

/// Triple-level cells. The three pages of a word line are adjacent in the block: LSB, CSB and MSB
/// at offsets 3 n, 3 n + 1 and 3 n + 2 (assumed; the order is vendor-specific).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tlc {}

impl Cited for Tlc {
    const PAPER: &'static str = "";
}

impl PageTypes for Tlc {
    fn levels(&self) -> u8 {
        3
    }
    fn level(&self, offset: u32, _pages: u32) -> u8 {
        (offset % 3) as u8
    }
}
