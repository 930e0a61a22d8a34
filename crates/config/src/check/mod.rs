//! Checks a configuration and derives its plan.

mod array;
mod buffer;
mod cached;
mod device;
mod host_side;
mod name;
mod nand;
mod observe;
mod precondition;
mod range;
mod replay;
mod ssd;
mod streams;

use device::without_flash;
use observe::{observe, series};
use replay::replay;
use wordline_cache::Replacement;

use crate::plan::{Plan, Store};
use crate::{Config, ConfigError, SCHEMA};

pub(crate) use nand::part;

/// Returns the reason why no device can use a policy, as a predicate for messages.
fn needed(policy: &Replacement) -> &'static str {
    match policy {
        Replacement::Unbounded(_) => "needs an unlimited cache",
        _ => "needs knowledge of future requests",
    }
}

/// Checks that a configuration has the supported version and that its base is merged in.
fn complete(config: &Config) -> Result<(), ConfigError> {
    if config.schema != SCHEMA {
        return Err(ConfigError::schema(config.schema.into()));
    }
    if let Some(base) = &config.base {
        return Err(ConfigError::rule(
            "base",
            format!("\"{base}\""),
            "the preset is not merged into the configuration",
            "read the file with `load`, which merges its preset",
        ));
    }
    Ok(())
}

impl Plan {
    /// Checks a configuration and derives its plan. The same configuration and seed give the same
    /// run.
    pub fn new(config: &Config, seed: u64) -> Result<Self, ConfigError> {
        complete(config)?;
        range::ranges(config, None)?;
        let store = Store::new(config, seed)?;
        if store.ssds().is_empty() {
            without_flash(config)?;
        }
        if let Some(side) = &config.host_side {
            host_side::host_side(side, store.user_bytes())?;
        }
        let mut plan = Self {
            name: config.name.clone(),
            store,
            host_side: config.host_side.clone(),
            replay: replay(&config.replay.mode),
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
