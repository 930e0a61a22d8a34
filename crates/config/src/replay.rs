//! The `[replay]` table: when requests are issued.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

/// Every request at its own time stamp, whether or not earlier ones have completed. A trace without
/// timestamps is rejected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OpenLoop {
    /// Arrival times are multiplied by this: 0.5 replays a trace at twice its speed. Factor.
    #[schemars(range(max = 1e6), extend("exclusiveMinimum" = 0.0))]
    pub time_scale: f64,
}

impl Default for OpenLoop {
    fn default() -> Self {
        Self { time_scale: 1.0 }
    }
}

impl Cited for OpenLoop {
    const PAPER: &'static str = "";
}

/// Keeps the given number of requests outstanding: when one completes, the next is issued.
/// Timestamps are ignored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClosedLoop {
    /// Requests under way. Count.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub queue_depth: u32,
}

impl Default for ClosedLoop {
    fn default() -> Self {
        Self { queue_depth: 32 }
    }
}

impl Cited for ClosedLoop {
    const PAPER: &'static str = "";
}

/// One request after the other, each as long after the completion of the one before as it was when they were recorded; at once, if
/// that was not complete then. The trace has response times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ThinkTime {
    /// The times between a completion and the next request are multiplied by this. Factor.
    #[schemars(range(min = 0.0, max = 1e6))]
    pub time_scale: f64,
}

impl Default for ThinkTime {
    fn default() -> Self {
        Self { time_scale: 1.0 }
    }
}

impl Cited for ThinkTime {
    const PAPER: &'static str = "";
}

wordline_kernel::family! {
    /// When is a request issued?
    pub enum Mode at "replay.mode" {
        "open-loop" => OpenLoop(OpenLoop),
        "closed-loop" => ClosedLoop(ClosedLoop),
        "think-time" => ThinkTime(ThinkTime),
    }
}

impl Default for Mode {
    fn default() -> Self {
        Self::OpenLoop(OpenLoop::default())
    }
}
