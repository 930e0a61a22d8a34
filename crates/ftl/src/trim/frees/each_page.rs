//! TRIM that frees single pages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Free;

/// Every page that a TRIM covers entirely is freed. A page is not freed if two TRIMs each cover
/// only a part of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EachPage {}

impl Cited for EachPage {
    const PAPER: &'static str = "";
}

impl Free for EachPage {}
