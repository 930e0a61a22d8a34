//! Configuration of the `[disk]` table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::buffer::Buffer;
use crate::model::Model;
use crate::overhead::Overhead;
use crate::queue::Policy;

/// Hard disk (`[disk]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Preset with a `[disk]` table, which supplies the keys that this table leaves out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Capacity that the host can address; a whole number of sectors. By default, all sectors with
    /// the model `positioned`, and 146,815,733,760 bytes with the other models. Bytes.
    #[schemars(range(min = 512, max = 1_000_000_000_000_000_000_u64))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity_bytes: Option<u64>,
    /// Model of the duration of an access.
    pub model: Model,
    /// Policy that orders the waiting requests.
    pub queue: Policy,
    /// Maximum outstanding requests in the disk, including the one in service; 0 for no limit.
    /// Further requests wait in the host. Count.
    #[schemars(range(min = 0, max = 4_294_967_295_u32))]
    pub queue_depth: u32,
    /// Whether requests are served one at a time. Otherwise no request waits for another, as in
    /// models that add a fixed time to each request.
    pub serial: bool,
    /// Times of the controller and the bus.
    pub overhead: Overhead,
    /// On-board buffer.
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
