//! Checks the `[cache]` table.

use wordline_dram_buffer::config::Buffer;
use wordline_flash_cache as flash_cache;
use wordline_ftl::mapping::{Build, Family};
use wordline_host_link::Interface;
use wordline_host_link::config::Host;
use wordline_ssd::config::Ssd as Wiring;

use super::needed;
use super::ssd::ftl_fault;
use crate::costs::before;
use crate::plan::{Cached, Precondition, Settle, Ssd, Store};
use crate::{Config, ConfigError, Nand, Precondition as PreconditionTable};

/// Returns the plan of a flash cache in front of another store. The flash starts empty and is
/// accessed only through the cache.
pub(super) fn cached(
    config: &Config,
    table: &flash_cache::Config,
    seed: u64,
) -> Result<Cached, ConfigError> {
    let backing = backing(config, seed)?;
    let mut ssd = Ssd::new(config, seed)?;
    if !config.ftl.mapping.abilities().any_place {
        return Err(ConfigError::rule(
            "ftl.mapping",
            config.ftl.mapping.name(),
            "this mapping cannot place a page anywhere in the flash, which a flash cache requires",
            format!("set ftl.mapping to {}", Family::able(|can| can.any_place)),
        ));
    }
    if !matches!(config.host.interface, Interface::Direct(_)) {
        return Err(ConfigError::rule(
            "host.interface",
            config.host.interface.name(),
            "a flash cache runs in the controller and accesses its flash without a host interface",
            "set host.interface to \"direct\"",
        ));
    }
    if ssd.device.buffer.is_some() {
        return Err(ConfigError::rule(
            "buffer.capacity_kib",
            config.buffer.capacity_kib,
            "a DRAM buffer between a flash cache and its flash is not modelled",
            "set buffer.capacity_kib to 0",
        ));
    }
    let destage = &table.destage;
    if destage.low_ratio > destage.high_ratio {
        return Err(ConfigError::rule(
            "cache.destage.low_ratio",
            destage.low_ratio,
            "the ratio exceeds cache.destage.high_ratio, above which destaging starts",
            format!(
                "give at most cache.destage.high_ratio, {}",
                destage.high_ratio
            ),
        )
        .with(&["cache.destage.high_ratio"]));
    }
    if !flash_cache::Plan::takes(&table.replacement) {
        return Err(ConfigError::rule(
            "cache.replacement",
            table.replacement.name(),
            format!(
                "no device can use this policy: it {}",
                needed(&table.replacement)
            ),
            "choose another policy; `wordline cache` simulates this one over a trace",
        ));
    }
    if ssd.device.ftl.reserve_blocks == 0 && table.mode.keeps_writes() {
        return Err(ConfigError::rule(
            "ftl.gc.hard_free_blocks",
            0,
            "the cache holds the only copy of written pages, and GC needs a free block to move them",
            "give at least 1 block, or choose another cache.mode",
        )
        .with(&["cache.mode"]));
    }
    let flash = flash_cache::Plan::flash(table, ssd.device);
    ssd.device = flash.map_err(|error| ftl_fault(config, error))?;
    ssd.precondition = Precondition {
        fill_pages: 0,
        scattered: false,
        overwrite_pages: 0,
        settle: Settle::No,
    };
    Ok(Cached {
        cache: flash_cache::Plan {
            is_backing_volatile: backing.is_volatile(),
            ..flash_cache::Plan::new(table, &ssd.device, of_tiers(&ssd.device, &backing))
        },
        ssd,
        backing,
    })
}

/// Returns the backing store of a cache: a disk, a RAM disk or an array.
fn backing(config: &Config, seed: u64) -> Result<Store, ConfigError> {
    let behind = Config {
        cache: None,
        nand: Nand::default(),
        ssd: Wiring::default(),
        buffer: Buffer::default(),
        host: Host::default(),
        ftl: wordline_ftl::Config::default(),
        precondition: PreconditionTable::default(),
        ..config.clone()
    };
    if config.array.is_none() && config.leaf_tables().is_empty() {
        return Err(ConfigError::conflict(
            "cache",
            "the cache has no backing store",
            "describe the disk in [disk], such as disk.model = \"constant\", or several disks in [array]",
        ));
    }
    Store::new(&behind, seed)
}

/// Returns the costs of a cache's flash and of its backing store. The first device without flash
/// determines the costs of the backing store; if all its devices have flash, the first device does.
fn of_tiers(flash: &wordline_ssd::Plan, backing: &Store) -> wordline_partition::Costs {
    let leaves = backing.leaves();
    let disk = leaves.iter().find(|leaf| leaf.of.ssd().is_none());
    let below = disk.or(leaves.first());
    let below = |write| below.map_or(0.0, |leaf| leaf.of.plan().page_us(flash.page_bytes, write));
    before(flash, below(false), below(true))
}
