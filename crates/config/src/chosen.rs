//! The policies that a configuration names.

use serde_json::Value;
use wordline_kernel::slot::Member;

use super::{Config, policies};

/// The policies in the slots of a configuration, those of members of an array and of streams included,
/// each once, in the order of [`policies`]. A slot that a disk has no use for counts for nothing: the
/// replacement of a buffer that is off, the scheduler of a package by itself.
pub fn chosen(config: &Config) -> Vec<Member> {
    let all = policies();
    let mut named = Vec::new();
    let config = serde_json::to_value(config).unwrap_or_default();
    walk(&config, "", &all, &mut named);
    let mut places = 0..;
    let mut kept = all;
    kept.retain(|_| places.next().is_some_and(|place| named.contains(&place)));
    kept
}

/// Adds the places in `all` of the policies that stand in `value`, at `path`, to `named`.
fn walk(value: &Value, path: &str, all: &[Member], named: &mut Vec<usize>) {
    match value {
        Value::Array(elements) => {
            for element in elements {
                walk(element, path, all, named);
            }
        }
        Value::Object(table) => {
            // One family serves both caches.
            let slot = path.replace("cache.replacement", "buffer.replacement");
            let names = |member: &Member| {
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

/// Whether the slot `key` of the table at `path` decides nothing in a disk.
fn is_idle(path: &str, key: &str, table: &Value) -> bool {
    let last = path.rsplit('.').next().unwrap_or_default();
    match (last, key) {
        ("buffer", "replacement") => table["capacity_kib"] == 0,
        ("nand", "scheduler") => true,
        _ => false,
    }
}
