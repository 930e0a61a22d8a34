//! Checks the ranges of numbers, and formats numbers for messages.

use std::sync::LazyLock;

use serde_json::Value;
use toml::Value as Toml;

use crate::keys::{join, resolve};
use crate::range::Range;
use crate::{Config, ConfigError};

static SCHEMA: LazyLock<Value> = LazyLock::new(crate::schema);

/// Checks that every number is in the range that its field has in the schema. `table`: if given,
/// only numbers of this table are checked.
pub(super) fn ranges(config: &Config, table: Option<&str>) -> Result<(), ConfigError> {
    let mut values = toml::Table::try_from(config).map_err(|_| {
        ConfigError::conflict(
            "",
            "a whole number exceeds the range of TOML",
            "keep whole numbers below 2^63",
        )
    })?;
    values.retain(|key, _| table.is_none_or(|table| key == table));
    check(&SCHEMA, &Toml::Table(values), "")
}

/// Checks a value and the values in it against the schema of its path.
fn check(schema: &Value, value: &Toml, path: &str) -> Result<(), ConfigError> {
    let schema = resolve(&SCHEMA, schema);
    match value {
        Toml::Integer(whole) => number(schema, path, *whole as f64, &whole.to_string())?,
        Toml::Float(real) => number(schema, path, *real, &written(*real))?,
        Toml::Table(table) => {
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                if let Some(value) = table.get(name) {
                    check(property, value, &join(path, name))?;
                }
            }
        }
        Toml::Array(elements) => list(schema, elements, path)?,
        _ => {}
    }
    let kinds = ["anyOf", "oneOf"]
        .iter()
        .filter_map(|key| schema[key].as_array());
    kinds
        .flatten()
        .try_for_each(|kind| check(kind, value, path))
}

/// Checks the elements of a list. The error of a number names the list.
fn list(schema: &Value, elements: &[Toml], path: &str) -> Result<(), ConfigError> {
    for (place, element) in elements.iter().enumerate() {
        let alike = schema.get("items");
        let Some(kind) = schema["prefixItems"].get(place).or(alike) else {
            continue;
        };
        if matches!(element, Toml::Integer(_) | Toml::Float(_)) {
            check(kind, element, path)?;
        } else {
            check(kind, element, &format!("{path}[{place}]"))?;
        }
    }
    Ok(())
}

fn number(schema: &Value, path: &str, value: f64, shown: &str) -> Result<(), ConfigError> {
    let Some(range) = Range::of(schema).filter(|range| !range.contains(value)) else {
        return Ok(());
    };
    let whole = schema["type"] == "integer" || schema["type"][0] == "integer";
    let rule = match range {
        Range::OneOf(_) => "not one of the allowed numbers",
        Range::Between(..) if !whole => "out of range",
        Range::Between(..) if range.is_above(value) => "too small",
        Range::Between(..) => "too large",
    };
    let remedy = match (&range, whole) {
        (Range::OneOf(_), _) => format!("give {range}"),
        (_, true) => format!("give a whole number {range}"),
        (_, false) => format!("give a number {range}"),
    };
    Err(ConfigError::rule(path, shown, rule, remedy))
}

/// Formats a number in TOML syntax, with as few digits as possible.
pub(super) fn written(value: f64) -> String {
    if value.is_nan() {
        "nan".to_owned()
    } else if value != 0.0 && value.is_finite() && !(1e-5..1e16).contains(&value.abs()) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}
