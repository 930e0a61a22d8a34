//! To another block.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Return;

/// To the block that collections write to; which free block that is, `ftl.wear` decides.
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
