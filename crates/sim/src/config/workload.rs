//! The `[workload]` table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Load to generate when no trace is given (`[workload]`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}
