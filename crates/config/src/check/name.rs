//! Checks the names of streams and members.

use crate::ConfigError;

/// Checks that a name is valid and differs from `others`. `what`: kind of the named element, for
/// messages.
pub(super) fn name(what: &str, key: &str, name: &str, others: &[&str]) -> Result<(), ConfigError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
        return Err(ConfigError::rule(
            key,
            format!("\"{name}\""),
            "not a valid name",
            format!("give every {what} a name of 1 to 64 letters, digits, - and _"),
        ));
    }
    if others.contains(&name) {
        return Err(ConfigError::rule(
            key,
            format!("\"{name}\""),
            format!("another {what} has this name"),
            format!("give each {what} a unique name"),
        ));
    }
    Ok(())
}
