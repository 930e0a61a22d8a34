//! Firmware in the device, without a bridge.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

/// FTL in the firmware of the device, which the CPU addresses directly. The host does not manage
/// flash and runs only its worker threads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Direct {}

impl Cited for Direct {
    const PAPER: &'static str = "";
}
