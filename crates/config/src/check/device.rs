//! Checks a single device: an SSD, or a device of another kind with its own table.

use wordline_dram_buffer::config::Buffer;
use wordline_ftl::gc::reclaim::Reclaiming;
use wordline_ftl::mapping::{Build, Family};
use wordline_host_link::config::Host;
use wordline_ssd::config::Ssd as Wiring;

use crate::plan::{Ssd, Store};
use crate::{Config, ConfigError, Nand, Precondition as PreconditionTable};

impl Store {
    /// Returns the plan of a configuration that has neither a cache nor an array.
    pub(super) fn of_one(config: &Config, seed: u64) -> Result<Self, ConfigError> {
        if let [first, second, ..] = config.leaf_tables()[..] {
            return Err(ConfigError::conflict(
                second,
                format!("[{second}] and [{first}] describe two devices"),
                "leave one of them out, or make them members of an [array]",
            ));
        }
        if !config.leaf_tables().is_empty() {
            without_flash(config)?;
        }
        let device = Self::of_table(config)
            .map_err(|error| ConfigError::conflict(error.key, error.reason, error.remedy))?;
        Ok(match device {
            Some(device) => device,
            None => Self::Ssd(Box::new(alone(config, seed)?)),
        })
    }
}

/// Returns the plan of an SSD that is not a cache, so that its pages have no other copy.
fn alone(config: &Config, seed: u64) -> Result<Ssd, ConfigError> {
    let gc = &config.ftl.gc;
    if !matches!(gc.reclaim, Reclaiming::Move(_)) {
        return Err(ConfigError::rule(
            "ftl.gc.reclaim",
            gc.reclaim.name(),
            "this policy may drop valid pages, and the pages of an SSD have no other copy",
            "set ftl.gc.reclaim to \"move\", or put the flash in front of a disk with [cache] and [disk]",
        ));
    }
    if gc.start_free_pages > 0 && !config.ftl.mapping.abilities().free_pages {
        let able = Family::able(|can| can.free_pages);
        return Err(ConfigError::rule(
            "ftl.gc.start_free_pages",
            gc.start_free_pages,
            "this mapping counts free blocks, not pages",
            format!("set ftl.gc.start_free_pages to 0 and give ftl.gc.start_free_ratio, or set ftl.mapping to {able}"),
        )
        .with(&["ftl.mapping"]));
    }
    Ssd::new(config, seed)
}

/// Checks that the tables of flash have their defaults, for a configuration without flash.
pub(super) fn without_flash(config: &Config) -> Result<(), ConfigError> {
    let flash = [
        ("nand", config.nand != Nand::default()),
        ("ssd", config.ssd != Wiring::default()),
        ("ftl", config.ftl != wordline_ftl::Config::default()),
        ("buffer", config.buffer != Buffer::default()),
        ("host", config.host != Host::default()),
        (
            "precondition",
            config.precondition != PreconditionTable::default(),
        ),
    ];
    if let Some((key, _)) = flash.iter().find(|(_, said)| *said) {
        return Err(ConfigError::conflict(
            key,
            format!("[{key}] describes flash, and a disk without a cache has no flash"),
            format!("add [cache] to put the flash in front of the disk, or omit [{key}]"),
        ));
    }
    Ok(())
}
