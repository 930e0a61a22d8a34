//! TRIM that invalidates (I-TRIM).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Answers;

/// The pages are unmapped, and every part of the map in flash that lists one of them is brought up to date before
/// the answer: its translation page is read, once, and programmed, once, however many of the pages it lists. Translation pages on
/// different planes are read and programmed side by side. A map that is in memory as a whole has none, and the answer comes at once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Invalidate {}

impl Cited for Invalidate {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, section 5.5.4";
}

impl Answers for Invalidate {
    fn writes_map(&self) -> bool {
        true
    }
}
