//! A configuration as a text.

use serde::{Serialize, Serializer};
use serde_json::Value as Json;
use toml::{Table, Value};

use super::Config;

/// Every key, in the order of the fields; of a device without flash by itself, the tables of flash that differ from the defaults
/// and all others, sorted.
///
/// The fields become a [`Table`] and JSON, as they do elsewhere. To write them out themselves, the library would compile
/// the code that walks through them four times more.
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

/// A value whose keys come in the order that they have in `order`: those of a [`Table`] are sorted.
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
