//! Page types of two-bit cells, address group beta.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{LSB, MSB, PageTypes, half};

/// Multi-level cells of two bits, address group beta. In a block of P pages, pages at offsets below
/// lambda and above `P - lambda` are LSB pages. Of the others, pages at offsets `lambda n` and
/// `lambda n + 1` are LSB pages, and pages at offsets `lambda n - (lambda + 2)` and
/// `lambda n - (lambda + 1)` are MSB pages. With lambda 2, both pairs of forms cover every offset;
/// even offsets are then LSB pages, and odd ones MSB pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MlcBeta {
    /// Period of the grouping. Pages.
    #[schemars(extend("enum" = [2, 4]))]
    pub lambda: u32,
}

impl Default for MlcBeta {
    fn default() -> Self {
        Self { lambda: 4 }
    }
}

impl Cited for MlcBeta {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, section 2.7.2";
}

impl PageTypes for MlcBeta {
    fn levels(&self) -> u8 {
        2
    }
    fn lambda(&self) -> Option<u32> {
        Some(self.lambda)
    }
    fn level(&self, offset: u32, pages: u32) -> u8 {
        let lambda = self.lambda;
        if offset < lambda || offset + lambda > pages {
            return LSB;
        }
        let remainder = offset % lambda;
        match (remainder <= 1, remainder + 2 >= lambda) {
            (true, false) => LSB,
            (false, true) => MSB,
            _ => half(offset, lambda),
        }
    }
}
