//! The `[disk]` table, validated.

use serde::{Deserialize, Serialize};

use crate::Config;
use crate::buffer::Buffer;
use crate::error::PlanError;
use crate::extent::SECTOR_BYTES;
use crate::model::{Mechanism, Timed};
use crate::overhead;
use crate::queue::Policy;

/// Default capacity of a disk whose model has no positions: that of a Maxtor Atlas 10K IV. Bytes.
const CAPACITY_BYTES: u64 = 146_815_733_760;

/// Validated disk configuration, from which a disk can be built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Bytes that the host can address.
    pub capacity_bytes: u64,
    /// Duration of an access.
    pub model: Timed,
    /// Order of requests.
    pub queue: Policy,
    /// Maximum outstanding requests. Count.
    pub queue_depth: u32,
    /// Whether requests are served one at a time.
    pub serial: bool,
    pub(crate) overhead: overhead::Timed,
    /// On-board buffer.
    pub buffer: Buffer,
}

impl Plan {
    /// Validates a table.
    pub fn new(config: &Config) -> Result<Self, PlanError> {
        let model = config.model.timed()?;
        config.buffer.check()?;
        if !config.serial && config.buffer.segments > 0 {
            return Err(PlanError {
                key: "disk.serial",
                reason: "a disk with a buffer serves its requests one at a time".into(),
                remedy: "set it to true, or disk.buffer.segments to 0".into(),
            });
        }
        if !config.serial && model.sectors().is_some() {
            return Err(PlanError {
                key: "disk.serial",
                reason: "a disk with one arm serves its requests one at a time".into(),
                remedy: "set it to true, or use a model without positions".into(),
            });
        }
        Ok(Self {
            capacity_bytes: capacity(config, &model)?,
            model,
            queue: config.queue.clone(),
            queue_depth: match config.queue_depth {
                0 => u32::MAX,
                depth => depth,
            },
            serial: config.serial,
            overhead: overhead::Timed::new(&config.overhead),
            buffer: config.buffer.clone(),
        })
    }
}

impl Plan {
    /// Command time for sectors that are not in the buffer, averaged over the previous commands.
    /// Microseconds.
    pub fn command_us(&self, write: bool) -> f64 {
        let behind = |behind_write| self.overhead.command(behind_write, write, false).as_us();
        f64::midpoint(behind(false), behind(true))
    }
}

fn capacity(config: &Config, model: &Timed) -> Result<u64, PlanError> {
    let all = model.sectors().map(|sectors| sectors * SECTOR_BYTES);
    let Some(bytes) = config.capacity_bytes else {
        return Ok(all.unwrap_or(CAPACITY_BYTES));
    };
    let fault = |reason, remedy: &str| {
        Err(PlanError {
            key: "disk.capacity_bytes",
            reason,
            remedy: remedy.into(),
        })
    };
    if !bytes.is_multiple_of(SECTOR_BYTES) {
        return fault(
            format!("{bytes} bytes are not a whole number of sectors of {SECTOR_BYTES} bytes"),
            "set it to a multiple of 512",
        );
    }
    if let Some(all) = all.filter(|all| bytes > *all) {
        return fault(
            format!("{bytes} bytes exceed the {all} bytes of the zones"),
            "leave it out, or lower it",
        );
    }
    Ok(bytes)
}
