//! TRIM at the cost of a look-up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

use super::Answers;

/// The pages are unmapped in memory. With a map in flash (`dftl`), the entry of each page is first
/// fetched into the cache, as for a write, and written when it is evicted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ideal {}

impl Cited for Ideal {
    const PAPER: &'static str = "";
}

impl Answers for Ideal {}
