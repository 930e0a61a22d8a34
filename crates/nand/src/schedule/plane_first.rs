//! Plane-first scheduling.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Place, Schedule};

/// Pages that arrive together are combined into one command for several planes of a die; the pages
/// after them go to the next die. The plane addressing rule (`nand.plane_rule`) restricts which
/// pages can be combined; a page without a partner is issued alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PlaneFirst {}

impl Cited for PlaneFirst {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, section 2.8.8";
}

impl Schedule for PlaneFirst {
    fn place(&self, page: u64, dies: u32, planes: u32) -> Place {
        let row = page / u64::from(planes);
        Place {
            die: (row % u64::from(dies)) as u32,
            plane: (page % u64::from(planes)) as u32,
            page: row / u64::from(dies),
        }
    }
    fn planes(&self, planes: u32) -> u32 {
        planes
    }
}
