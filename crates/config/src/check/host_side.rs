//! Checks the `[host_side]` table.

use wordline_host_cpu::mapping::cached_table::CachedTable;
use wordline_host_cpu::{Architecture, Config as HostSide, Mapping};

use super::needed;
use crate::ConfigError;

const KEY: &str = "host_side.architecture.flash-software.mapping.cached-table";

/// Checks a cached map. Its pages must fit into the store, and its directory and one page into
/// memory.
pub(super) fn host_side(config: &HostSide, store_bytes: u64) -> Result<(), ConfigError> {
    let Architecture::FlashSoftware(software) = &config.architecture else {
        return Ok(());
    };
    let Mapping::CachedTable(table) = &software.mapping else {
        return Ok(());
    };
    let key = |name| format!("{KEY}.{name}");
    if !CachedTable::takes(&table.replacement) {
        return Err(ConfigError::conflict(
            &key("replacement"),
            format!(
                "{}: the map cannot use \"{}\", which {}",
                key("replacement"),
                table.replacement.name(),
                needed(&table.replacement)
            ),
            "choose another policy, such as \"lru\" or \"clock\"",
        ));
    }
    let unit_bytes = software.unit_bytes;
    let reserved = table.reserved(store_bytes, unit_bytes);
    if reserved >= store_bytes {
        return Err(ConfigError::conflict(
            &key("page_bytes"),
            format!(
                "the pages of the map take {reserved} bytes, and the store has only {store_bytes}"
            ),
            "enlarge the store or `unit_bytes`",
        ));
    }
    if table.is_too_long(store_bytes, unit_bytes) {
        return Err(ConfigError::rule(
            &key("page_bytes"),
            table.page_bytes,
            "the map has more pages than a cache can number",
            "enlarge `page_bytes` or `unit_bytes`",
        ));
    }
    let least = table.least_memory(store_bytes, unit_bytes);
    if table.memory_bytes < least {
        return Err(ConfigError::rule(
            &key("memory_bytes"),
            table.memory_bytes,
            format!("the map's directory and one of its pages take {least} bytes"),
            format!("give {least} or more, or enlarge `page_bytes` or `unit_bytes`"),
        ));
    }
    Ok(())
}
