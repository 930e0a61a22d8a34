//! Every page by itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Free;

/// Every page that a TRIM covers as a whole is freed. Of two TRIMs that cover a part of a page each, neither frees it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EachPage {}

impl Cited for EachPage {
    const PAPER: &'static str = "";
}

impl Free for EachPage {}
