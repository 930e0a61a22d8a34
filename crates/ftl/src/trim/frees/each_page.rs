//! TRIM of single pages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Free;

/// Every page that a TRIM covers entirely is freed. A page that two TRIMs cover in part is not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EachPage {}

impl Cited for EachPage {
    const PAPER: &'static str = "";
}

impl Free for EachPage {}
