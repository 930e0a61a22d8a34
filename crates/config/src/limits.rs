//! Checks size limits before a configuration is interpreted.

use toml::{Table, Value};

use super::ConfigError;
use super::keys::{self, join};
use super::streams::without_places;

/// Maximum size of a configuration file, and of an override. Bytes.
const MAX_BYTES: usize = 4 << 20;

/// Maximum number of elements of a list whose field declares no bound.
const MAX_ELEMENTS: usize = 1 << 16;

/// Checks that a text is short enough to be parsed.
pub(super) fn text(text: &str) -> Result<(), ConfigError> {
    if text.len() <= MAX_BYTES {
        return Ok(());
    }
    Err(ConfigError::conflict(
        "",
        format!("the text has {} bytes", text.len()),
        format!("give at most {MAX_BYTES} bytes"),
    ))
}

/// Checks that no list is longer than its field allows. `prefix`: path of the table.
pub(super) fn lists(table: &Table, prefix: &str) -> Result<(), ConfigError> {
    for (key, value) in table {
        within(value, &join(prefix, key))?;
    }
    Ok(())
}

fn within(value: &Value, path: &str) -> Result<(), ConfigError> {
    match value {
        Value::Table(table) => lists(table, path),
        Value::Array(elements) => {
            let most = keys::find(&without_places(path)).and_then(|key| key.longest);
            let most = most.unwrap_or(MAX_ELEMENTS);
            if elements.len() > most {
                return Err(ConfigError::conflict(
                    path,
                    format!("{path} has {} elements", elements.len()),
                    format!("give at most {most} elements"),
                ));
            }
            let mut places = elements.iter().enumerate();
            places.try_for_each(|(place, element)| within(element, &format!("{path}[{place}]")))
        }
        _ => Ok(()),
    }
}
