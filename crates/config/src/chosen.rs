//! Lists the policies that a configuration names.

use serde_json::Value;
use wordline_kernel::slot::PolicyInfo;

use super::{Config, policies};

/// Returns the policies in the slots of a configuration, including those of array members and
/// streams. Each policy is listed once, in the order of [`policies`]. Two slots without effect are
/// skipped: the replacement policy of a buffer that is off, and the scheduler of a standalone
/// package.
pub fn chosen(config: &Config) -> Vec<PolicyInfo> {
    let all = policies();
    let mut named = Vec::new();
    let config = serde_json::to_value(config).unwrap_or_default();
    walk(&config, "", &all, &mut named);
    let mut places = 0..;
    let mut kept = all;
    kept.retain(|_| places.next().is_some_and(|place| named.contains(&place)));
    kept
}

/// Adds to `named` the indices in `all` of the policies in `value`, whose path is `path`.
fn walk(value: &Value, path: &str, all: &[PolicyInfo], named: &mut Vec<usize>) {
    match value {
        Value::Array(elements) => {
            for element in elements {
                walk(element, path, all, named);
            }
        }
        Value::Object(table) => {
            // The DRAM buffer and the flash cache share one policy family.
            let slot = path.replace("cache.replacement", "buffer.replacement");
            let names = |member: &PolicyInfo| {
                let family = slot.strip_suffix(member.family);
                family.is_some_and(|outer| outer.is_empty() || outer.ends_with('.'))
                    && table.len() == 1
                    && table.contains_key(member.name)
            };
            named.extend((0..all.len()).filter(|&place| names(&all[place])));
            for (key, inner) in table {
                if !is_idle(path, key, value) {
                    walk(inner, &super::keys::join(path, key), all, named);
                }
            }
        }
        _ => {}
    }
}

/// Returns `true` if the slot `key` of the table at `path` is skipped, because it has no effect on
/// a device.
fn is_idle(path: &str, key: &str, table: &Value) -> bool {
    let last = path.rsplit('.').next().unwrap_or_default();
    match (last, key) {
        ("buffer", "replacement") => table["capacity_kib"] == 0,
        ("nand", "scheduler") => true,
        _ => false,
    }
}
