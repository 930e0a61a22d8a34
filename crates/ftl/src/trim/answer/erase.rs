//! TRIM with erases (E-TRIM).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Answers;

/// The pages are unmapped, and full blocks that are left without valid pages are erased before the
/// TRIM completes: one after another on a plane, in parallel on different dies (GC runs with
/// trigger `trim`). Blocks that still contain other valid pages, or are open for programs, remain.
/// Only with page mapping (`page`, `dftl`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Erase {}

impl Cited for Erase {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, section 5.6.2";
}

impl Answers for Erase {
    fn erases(&self) -> bool {
        true
    }
}
