//! What the `[disk]` table means, checked.

use serde::{Deserialize, Serialize};

use crate::Config;
use crate::buffer::Buffer;
use crate::error::PlanError;
use crate::extent::SECTOR_BYTES;
use crate::model::{Mechanism, Timed};
use crate::overhead;
use crate::queue::Policy;

/// What the host can address of a disk whose model knows no positions: that of a Maxtor Atlas 10K IV. Bytes.
const CAPACITY_BYTES: u64 = 146_815_733_760;

/// A disk that can be built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// What the host can address. Bytes.
    pub capacity_bytes: u64,
    /// How long an access takes.
    pub model: Timed,
    /// Which request is next.
    pub queue: Policy,
    /// Requests held at once.
    pub queue_depth: u32,
    /// Whether requests are served one by one.
    pub serial: bool,
    pub(crate) overhead: overhead::Timed,
    /// The on-board buffer.
    pub buffer: Buffer,
}

impl Plan {
    /// Checks a table.
    pub fn new(config: &Config) -> Result<Self, PlanError> {
        let model = config.model.timed()?;
        config.buffer.check()?;
        if !config.serial && config.buffer.segments > 0 {
            return Err(PlanError {
                key: "disk.serial",
                reason: "a disk with a buffer serves its requests one by one".into(),
                remedy: "set it to true, or disk.buffer.segments to 0".into(),
            });
        }
        if !config.serial && model.sectors().is_some() {
            return Err(PlanError {
                key: "disk.serial",
                reason: "a disk with one arm serves its requests one by one".into(),
                remedy: "set it to true, or take a model without positions".into(),
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
    /// What the controller takes for a command whose sectors are not in the buffer, on average over what came before. Microseconds.
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
            format!("{bytes} bytes are no whole number of sectors of {SECTOR_BYTES} bytes"),
            "give a multiple of 512",
        );
    }
    if let Some(all) = all.filter(|all| bytes > *all) {
        return fault(
            format!("{bytes} bytes are more than the {all} of the zones"),
            "leave it out, or lower it",
        );
    }
    Ok(bytes)
}
