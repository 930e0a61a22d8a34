//! Die-first scheduling.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Place, Schedule};

/// Pages are striped over the dies as they arrive, and a command uses one plane. No addressing rule
/// restricts the dies, so requests of any size are interleaved, but each page costs an array
/// operation of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DieFirst {}

impl Cited for DieFirst {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, section 2.8.8";
}

impl Schedule for DieFirst {
    fn place(&self, page: u64, dies: u32, planes: u32) -> Place {
        let row = page / u64::from(dies);
        Place {
            die: (page % u64::from(dies)) as u32,
            plane: (row % u64::from(planes)) as u32,
            page: row / u64::from(planes),
        }
    }
    fn planes(&self, _planes: u32) -> u32 {
        1
    }
}
