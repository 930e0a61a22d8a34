//! Page types of two-bit cells, address group alpha.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{LSB, MSB, PageTypes, half};

/// Multi-level cells of two bits, address group alpha. In a block of P pages, the pages at offsets
/// 0, 1 and `P - 1` are LSB pages. Of the others, pages at offsets `lambda n` are LSB pages. Pages
/// at offsets `lambda n - (lambda + 1)` are MSB pages. With lambda 4, these forms do not cover the
/// offsets `4 n + 1`, which are LSB pages, and `4 n + 2`, which are MSB pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MlcAlpha {
    /// Period of the grouping. Pages.
    #[schemars(extend("enum" = [2, 4]))]
    pub lambda: u32,
}

impl Default for MlcAlpha {
    fn default() -> Self {
        Self { lambda: 2 }
    }
}

impl Cited for MlcAlpha {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, section 2.7.2";
}

impl PageTypes for MlcAlpha {
    fn levels(&self) -> u8 {
        2
    }
    fn lambda(&self) -> Option<u32> {
        Some(self.lambda)
    }
    fn level(&self, offset: u32, pages: u32) -> u8 {
        if offset <= 1 || offset + 1 >= pages {
            return LSB;
        }
        match offset % self.lambda {
            0 => LSB,
            remainder if remainder == self.lambda - 1 => MSB,
            _ => half(offset, self.lambda),
        }
    }
}
