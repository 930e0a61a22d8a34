//! TRIM that erases (E-TRIM).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Answers;

/// The pages are unmapped, and full blocks that hold nothing after that are erased before the answer, one after the other on a plane and side
/// by side on different dies (collections with the trigger `trim`). Blocks that still hold other pages, or still take programs, stay as they
/// are. With page mapping (`page`, `dftl`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Erase {}

impl Cited for Erase {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, section 5.5.4";
}

impl Answers for Erase {
    fn erases(&self) -> bool {
        true
    }
}
