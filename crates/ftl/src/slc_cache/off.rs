//! No SLC cache.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{Caches, Size};

/// All pages are programmed in the mode of the part (`nand.cell`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Off {}

impl Cited for Off {
    const PAPER: &'static str = "";
}

impl Caches for Off {
    fn size(&self) -> Option<Size> {
        None
    }
}
