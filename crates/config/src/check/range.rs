//! The range of each number, and how a number is written in a fault.

use std::fmt::Display;

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
    least: N,
    most: N,
) -> Result<(), ConfigError> {
    if value >= least && value <= most {
        return Ok(());
    }
    let rule = if value < least {
        "too small"
    } else {
        "too large"
    };
    Err(ConfigError::rule(
        key,
        value,
        rule,
        format!("give a whole number from {least} to {most}"),
    ))
}

/// The lower bound of a range.
#[derive(Clone, Copy)]
pub(super) enum Lower {
    /// The value itself is in range.
    Inclusive(f64),
    /// The value itself is out of range.
    Exclusive(f64),
}

pub(super) fn number(key: &str, value: f64, least: Lower, most: f64) -> Result<(), ConfigError> {
    let (enough, words) = match least {
        Lower::Inclusive(least) => (value >= least, format!("from {least}")),
        Lower::Exclusive(least) => (value > least, format!("above {least} and up")),
    };
    if enough && value <= most {
        return Ok(());
    }
    Err(ConfigError::rule(
        key,
        written(value),
        "out of range",
        format!("give a number {words} to {most}"),
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
