//! Writes a configuration as TOML.

use serde::{Serialize, Serializer};
use serde_json::Value as Json;
use toml::{Table, Value};

use super::Config;

/// Returns a configuration as TOML with every key that has a value, in the order of the fields. For
/// a device without flash, keys are sorted, and tables of flash that have their defaults are
/// omitted.
///
/// The fields are converted to a [`Table`] and to JSON, as elsewhere. Serialising them directly
/// would make the `toml` crate compile the code that traverses them four more times.
pub(super) fn text(config: &Config) -> Result<String, toml::ser::Error> {
    let mut table = Table::try_from(config)?;
    if !config.leaf_tables().is_empty() && config.cache.is_none() {
        let defaults = Table::try_from(Config::default())?;
        for flash in ["nand", "ssd", "buffer", "host", "ftl", "precondition"] {
            if table.get(flash) == defaults.get(flash) {
                table.remove(flash);
            }
        }
        return toml::to_string(&table);
    }
    let order = serde_json::to_value(config).unwrap_or_default();
    toml::to_string(&Ordered {
        value: &Value::Table(table),
        order: &order,
    })
}

/// Value that is serialised with its keys in the order of `order`. The keys of a [`Table`] are
/// sorted.
struct Ordered<'a> {
    value: &'a Value,
    order: &'a Json,
}

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.value, self.order) {
            (Value::Table(table), Json::Object(order)) => {
                serializer.collect_map(order.iter().filter_map(|(key, order)| {
                    let value = table.get(key)?;
                    Some((key, Ordered { value, order }))
                }))
            }
            (Value::Array(list), Json::Array(order)) => {
                let places = list.iter().zip(order);
                serializer.collect_seq(places.map(|(value, order)| Ordered { value, order }))
            }
            (value, _) => value.serialize(serializer),
        }
    }
}
