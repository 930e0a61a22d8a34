//! Page type of one-bit cells.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{LSB, PageTypes};

/// Single-level cells: all pages have the same latency.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Slc {}

impl Cited for Slc {
    const PAPER: &'static str = "";
}

impl PageTypes for Slc {
    fn levels(&self) -> u8 {
        1
    }
    fn level(&self, _offset: u32, _pages: u32) -> u8 {
        LSB
    }
}
