//! FTL in the firmware of the device, without a bridge.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

/// FTL in the firmware of the device, which the CPU addresses directly. The host does not manage
/// flash; only its worker threads take CPU time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Direct {}

impl Cited for Direct {
    const PAPER: &'static str = "";
}
