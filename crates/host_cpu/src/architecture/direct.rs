//! Firmware in the device, which the CPU talks to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

/// Firmware in the device, which the CPU talks to directly: the host knows nothing of flash, and has its workers only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Direct {}

impl Cited for Direct {
    const PAPER: &'static str = "";
}
