//! Programming model with one program mode for all pages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::{ModeCosts, Price};
use crate::fault::Fault;

/// Every page is programmed in the same way; programs and reads take the times of `nand.timing`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Uniform {}

impl Cited for Uniform {
    const PAPER: &'static str = "";
}

impl Price for Uniform {
    fn costs(&self) -> Result<Option<ModeCosts>, Fault> {
        Ok(None)
    }
}
