//! Handling of TRIM (`[ftl.trim]`).

pub mod answer;
pub mod frees;

pub use answer::Answer;
pub use frees::{Free, Frees, Run};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Handling of TRIM (`[ftl.trim]`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Trim {
    /// Work before a TRIM completes.
    pub answer: Answer,
    /// Pages covered by a TRIM that are freed.
    pub frees: Frees,
}
