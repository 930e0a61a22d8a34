//! TRIM with map updates (I-TRIM).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Answers;

/// The pages are unmapped, and every translation page with an entry of one of them is updated
/// before the TRIM completes. It is read once and programmed once, regardless of the number of
/// entries that change. Translation pages on different planes are read and programmed in parallel.
/// A map that is entirely in memory needs no update, and the TRIM completes at once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Invalidate {}

impl Cited for Invalidate {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, section 5.6.2";
}

impl Answers for Invalidate {
    fn writes_map(&self) -> bool {
        true
    }
}
