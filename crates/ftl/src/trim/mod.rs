//! Handling of TRIM requests (`[ftl.trim]`).

pub mod answer;
pub mod frees;

pub use answer::Answer;
pub use frees::{Free, Frees, Run};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Handling of TRIM requests (`[ftl.trim]`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Trim {
    /// Work that a device performs before it completes a TRIM.
    pub answer: Answer,
    /// Policy that selects the pages to free among those that a TRIM covers.
    pub frees: Frees,
}
