//! The range of each number, and how a number is written in a fault.

use std::fmt::Display;
use std::ops::RangeInclusive;

use serde_json::Value;

use crate::keys::{self, Kind};
use crate::{Config, ConfigError};

/// The ranges that the keys of policies declare in their schema, of keys that begin so.
pub(super) fn from_schema(config: &Config, start: &str) -> Result<(), ConfigError> {
    let values = serde_json::to_value(config).unwrap_or_default();
    let bounded = |key: &&keys::Key| key.path.starts_with(start) && key.range != (None, None);
    for key in keys::all().iter().filter(bounded) {
        let pointer = format!("/{}", key.path.replace('.', "/"));
        let value = match values.pointer(&pointer) {
            // What JSON has no number for: infinite, or none at all.
            Some(Value::Null) if key.kind == Kind::Number => {
                as_toml(config, &key.path).parse().unwrap_or(f64::NAN)
            }
            Some(Value::Number(number)) => number.as_f64().unwrap_or(f64::NAN),
            _ => continue,
        };
        let least = key.range.0.unwrap_or(f64::NEG_INFINITY);
        let most = key.range.1.unwrap_or(f64::INFINITY);
        if !(least..=most).contains(&value) {
            let remedy = match key.range {
                (Some(least), Some(most)) => format!("give a number from {least} to {most}"),
                (Some(least), None) => format!("give a number not below {least}"),
                _ => format!("give a number not above {most}"),
            };
            return Err(ConfigError::rule(
                &key.path,
                written(value),
                "out of range",
                remedy,
            ));
        }
    }
    Ok(())
}

pub(super) fn whole<N: Copy + PartialOrd + Display>(
    key: &str,
    value: N,
    range: RangeInclusive<N>,
) -> Result<(), ConfigError> {
    if range.contains(&value) {
        return Ok(());
    }
    let (least, most) = range.into_inner();
    let rule = if value < least {
        "too small"
    } else {
        "too large"
    };
    let remedy = format!("give a whole number from {least} to {most}");
    Err(ConfigError::rule(key, value, rule, remedy))
}

pub(super) fn number(key: &str, value: f64, range: RangeInclusive<f64>) -> Result<(), ConfigError> {
    let words = format!("from {} to {}", range.start(), range.end());
    in_range(key, value, range.contains(&value), &words)
}

/// A number above zero.
pub(super) fn positive(key: &str, value: f64, most: f64) -> Result<(), ConfigError> {
    let words = format!("above 0 and up to {most}");
    in_range(key, value, value > 0.0 && value <= most, &words)
}

fn in_range(key: &str, value: f64, fits: bool, range: &str) -> Result<(), ConfigError> {
    if fits {
        return Ok(());
    }
    let remedy = format!("give a number {range}");
    Err(ConfigError::rule(
        key,
        written(value),
        "out of range",
        remedy,
    ))
}

/// A number as it would be written in TOML, in few digits.
pub(super) fn written(value: f64) -> String {
    if value.is_nan() {
        "nan".to_owned()
    } else if value != 0.0 && value.is_finite() && !(1e-5..1e16).contains(&value.abs()) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

/// The value of a key as TOML has it, which knows numbers that are infinite or none.
pub(super) fn as_toml(config: &Config, key: &str) -> String {
    let table = toml::Table::try_from(config).map(toml::Value::Table);
    let value = table.map(|table| {
        let found = key
            .split('.')
            .try_fold(&table, |table, part| table.get(part));
        found.map_or_else(String::new, ToString::to_string)
    });
    value.unwrap_or_default()
}
