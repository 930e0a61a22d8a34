//! The `[disk]` table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::buffer::Buffer;
use crate::model::Model;
use crate::overhead::Overhead;
use crate::queue::Policy;

/// A hard disk (`[disk]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Preset whose disk it is, but for what is said beside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// What the host can address; a whole number of sectors. Left out, all sectors of a model with positions, and 146,815,733,760 of another. Bytes.
    #[schemars(range(min = 512, max = 1_000_000_000_000_000_000_u64))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity_bytes: Option<u64>,
    /// How long an access takes.
    pub model: Model,
    /// Which of the requests that wait is served next.
    pub queue: Policy,
    /// Requests that the disk holds at once, the one it works on included; as many as there are, if 0. Requests beyond wait outside. Count.
    #[schemars(range(min = 0, max = 4_294_967_295_u32))]
    pub queue_depth: u32,
    /// Whether requests are served one by one. If not, none waits for another: each takes its time by itself, as in models that
    /// add a fixed time a request.
    pub serial: bool,
    /// What the controller and the bus take.
    pub overhead: Overhead,
    /// The on-board buffer.
    pub buffer: Buffer,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            base: None,
            capacity_bytes: None,
            model: Model::default(),
            queue: Policy::default(),
            queue_depth: 0,
            serial: true,
            overhead: Overhead::default(),
            buffer: Buffer::default(),
        }
    }
}
