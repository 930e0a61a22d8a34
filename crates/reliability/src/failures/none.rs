//! No failures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Fail;

/// Programs and erases never fail. A block endures `nand.endurance_cycles` erases, and a run that
/// needs more ends with an error.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct None {}

impl Cited for None {
    const PAPER: &'static str = "";
}

impl Fail for None {
    fn erase(&self, _cycles: f64) -> f64 {
        0.0
    }
    fn program(&self, _cycles: f64, _pages: u32) -> f64 {
        0.0
    }
    fn is_none(&self) -> bool {
        true
    }
}
