//! The `[disk]` table, validated.

use serde::{Deserialize, Serialize};
use wordline_block::{PlanError, Specification};
use wordline_kernel::{Rng, Time};

use crate::Config;
use crate::buffer::Buffer;
use crate::extent::{Extent, SECTOR_BYTES};
use crate::model::{Mechanism, Timed};
use crate::overhead;
use crate::queue::Policy;

/// Default capacity of a disk whose model has no positions: that of a Maxtor Atlas 10K IV. Bytes.
const CAPACITY_BYTES: u64 = 146_815_733_760;

/// Validated disk configuration from which a disk can be built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Capacity that the host can address. Bytes.
    pub capacity_bytes: u64,
    /// Model of the duration of an access.
    pub model: Timed,
    /// Policy that orders the waiting requests.
    pub queue: Policy,
    /// Maximum outstanding requests. Count.
    pub queue_depth: u32,
    /// Whether requests are served one at a time.
    pub serial: bool,
    pub(crate) overhead: overhead::Timed,
    /// On-board buffer.
    pub buffer: Buffer,
}

/// Number of random accesses over which the mean page time of a disk is taken.
const PROBES: u64 = 1 << 12;

impl Plan {
    /// Validates a `[disk]` table.
    pub fn new(config: &Config) -> Result<Self, PlanError> {
        let model = config.model.timed()?;
        config.buffer.check()?;
        if !config.serial && config.buffer.segments > 0 {
            return Err(PlanError {
                key: "disk.serial",
                reason: "a disk with a buffer serves requests one at a time".into(),
                remedy: "set disk.serial to true, or disk.buffer.segments to 0".into(),
            });
        }
        if !config.serial && model.sectors().is_some() {
            return Err(PlanError {
                key: "disk.serial",
                reason: "a disk with an arm serves requests one at a time".into(),
                remedy: "set disk.serial to true, or disk.model to a model without positions, such as \"average\"".into(),
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
    /// Returns the command time for sectors that are not in the buffer, averaged over reads and
    /// writes as the previous command. Microseconds.
    fn command_us(&self, write: bool) -> f64 {
        let behind = |behind_write| self.overhead.command(behind_write, write, false).as_us();
        f64::midpoint(behind(false), behind(true))
    }
}

impl Specification for Plan {
    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }
    fn queue_depth(&self) -> u32 {
        self.queue_depth
    }
    fn is_volatile(&self) -> bool {
        self.buffer.write_cache
    }
    /// Returns the mean time of a page access, including the command time, over random accesses.
    /// The times between accesses are random too, so that the platters can be at any angle.
    /// Microseconds.
    fn page_us(&self, page_bytes: u64, write: bool) -> f64 {
        let mut model = self.model.clone();
        let sectors = page_bytes.div_ceil(SECTOR_BYTES);
        let places = (self.capacity_bytes / SECTOR_BYTES / sectors).max(1);
        let mut random = Rng::new(0, "costs.disk");
        let (mut now, mut busy) = (Time::ZERO, Time::ZERO);
        for _ in 0..PROBES {
            now += Time::from_us(random.below(1 << 14));
            let extent = Extent {
                lbn: random.below(places) * sectors,
                sectors,
            };
            let took = model.access(now, extent, write, now).total();
            now += took;
            busy += took;
        }
        busy.as_us() / PROBES as f64 + self.command_us(write)
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
            "set disk.capacity_bytes to a multiple of 512",
        );
    }
    if let Some(all) = all.filter(|all| bytes > *all) {
        return fault(
            format!("{bytes} bytes exceed the {all} bytes of the zones"),
            "omit disk.capacity_bytes, or lower it",
        );
    }
    Ok(bytes)
}
