//! The rules that a configuration has to obey, and the plan of one that obeys them.

mod array;
mod buffer;
mod cached;
mod name;
mod nand;
mod observe;
mod precondition;
mod range;
mod replay;
mod ssd;
mod streams;

use observe::{observe, series};
use replay::replay;

use crate::plan::{Plan, Store};
use crate::{Config, ConfigError};

pub(crate) use nand::part;

impl Plan {
    /// Checks a configuration. The same configuration and seed give the same run.
    pub fn new(config: &Config, seed: u64) -> Result<Self, ConfigError> {
        let mut plan = Self {
            name: config.name.clone(),
            store: Store::new(config, seed)?,
            replay: replay(&config.replay.mode)?,
            series: series(&config.series)?,
            observe: observe(&config.observe)?,
            workload: config.workload.clone(),
            streams: Vec::new(),
            seed,
        };
        plan.streams = streams::streams(config, &plan, seed)?;
        streams::workloads(&plan)?;
        Ok(plan)
    }
}
