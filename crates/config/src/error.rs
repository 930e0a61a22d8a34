//! Error type of configurations.

use std::fmt;

use super::origin::cut;
use super::{Origin, SCHEMA};

/// Error of a configuration that cannot be read or is not consistent.
///
/// Displays as one line, `place: fault; remedy`. If the fault is in a file, the line of the file
/// and a caret follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Origin of the faulty value.
    pub origin: Origin,
    /// Faulty key, such as `host.queue_depth`. Empty if no key is at fault.
    pub key: String,
    /// Fault, with the value and the rule that it breaks.
    pub reason: String,
    /// Remedy; may be empty.
    pub remedy: String,
    /// Further keys whose values contribute to the fault.
    pub(super) others: &'static [&'static str],
}

impl ConfigError {
    /// Creates an error that states that `key = value` breaks a rule.
    pub(super) fn rule(
        key: &str,
        value: impl fmt::Display,
        rule: impl fmt::Display,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            origin: Origin::Default(String::new()),
            key: key.to_owned(),
            others: &[],
            reason: format!("{key} = {value}: {rule}"),
            remedy: remedy.into(),
        }
    }

    /// Creates the error for a configuration of another schema version.
    pub(super) fn schema(version: i64) -> Self {
        Self::rule(
            "schema",
            version,
            format!("this program reads version {SCHEMA}"),
            format!(
                "write schema = {SCHEMA} and the keys of docs/reference/config.md, or use the program version \
                 for which the file was written"
            ),
        )
    }

    /// Creates an error at `key` that is not caused by a single value.
    pub(super) fn conflict(
        key: &str,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            origin: Origin::Default(String::new()),
            key: key.to_owned(),
            reason: reason.into(),
            remedy: remedy.into(),
            others: &[],
        }
    }

    /// Moves the fault into the table `table`: each path of `workload` or `replay` in the message
    /// then starts with it. `table` is empty or ends in a dot.
    pub(super) fn inside(mut self, table: &str) -> Self {
        for top in ["workload.", "replay."] {
            let here = format!("{table}{top}");
            self.key = self.key.replace(top, &here);
            self.reason = self.reason.replace(top, &here);
            self.remedy = self.remedy.replace(top, &here);
        }
        self
    }

    /// Prefixes the key with the path of member `place` of an array, and also the fault if it
    /// starts with the key. Drops the further keys.
    pub(super) fn at_member(mut self, place: usize) -> Self {
        let table = format!("array.members[{place}].");
        if self.reason.starts_with(&self.key) {
            self.reason.insert_str(0, &table);
        }
        self.key.insert_str(0, &table);
        self.others = &[];
        self
    }

    /// Adds further keys that contribute to the fault.
    pub(super) fn with(mut self, others: &'static [&'static str]) -> Self {
        self.others = others;
        self
    }
}

/// Maximum length of a fault, and of a remedy, in a message. Bytes.
const SHOWN: usize = 1000;

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin.prefix())?;
        f.write_str(&cut(&self.reason, SHOWN))?;
        if !self.remedy.is_empty() {
            write!(f, "; {}", cut(&self.remedy, SHOWN))?;
        }
        f.write_str(&self.origin.suffix())
    }
}

impl std::error::Error for ConfigError {}
