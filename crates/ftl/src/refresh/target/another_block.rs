//! Refresh into another block.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Return;

/// The active block of GC, for which `ftl.wear` selects a free block.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AnotherBlock {}

impl Cited for AnotherBlock {
    const PAPER: &'static str = "";
}

impl Return for AnotherBlock {
    fn returns(&self) -> bool {
        false
    }
}
