//! The `[replay]` table: rule by which requests are issued.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;

/// Open loop: issues every request at its time stamp, whether or not earlier requests have
/// completed. A trace without time stamps is an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OpenLoop {
    /// Multiplier of arrival times. With 0.5, a trace is replayed at twice its speed. Factor.
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

/// Closed loop: keeps the given number of requests outstanding. When one completes, it issues the
/// next. Time stamps are ignored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClosedLoop {
    /// Number of outstanding requests. Count.
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

/// Issues one request at a time, after the think time that the trace recorded between the
/// completion of the previous request and the issue of this one. A request that the trace issued
/// before that completion is issued immediately. The trace needs response times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ThinkTime {
    /// Multiplier of the recorded think times. Factor.
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
