//! Error type of configurations.

use std::fmt;

use super::origin::cut;
use super::{Origin, SCHEMA};

/// A configuration that cannot be read or is not consistent.
///
/// Displayed as one line, `where: what; remedy`. A fault in a file is followed by the line of the
/// file with a caret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Where the faulty value was set.
    pub origin: Origin,
    /// Key with the fault, such as `host.queue_depth`; empty if the text is not TOML.
    pub key: String,
    /// Fault, with the value and the rule.
    pub reason: String,
    /// Remedy.
    pub remedy: String,
    /// Further keys whose values contribute to the fault.
    pub(super) others: &'static [&'static str],
}

impl ConfigError {
    /// Fault: `key = value` breaks a rule.
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

    /// Fault: the configuration has another schema version.
    pub(super) fn schema(version: i64) -> Self {
        Self::rule(
            "schema",
            version,
            format!("this program reads version {SCHEMA}"),
            format!(
                "write schema = {SCHEMA} and the keys of docs/reference/config.md, or use the program \
                 that the file was written for"
            ),
        )
    }

    /// Fault at `key` that cannot be blamed on a single value.
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

    /// Moves a fault into the table `table`, whose path is empty or ends in a dot: every path in
    /// the message then starts there.
    pub(super) fn inside(mut self, table: &str) -> Self {
        for top in ["workload.", "replay."] {
            let here = format!("{table}{top}");
            self.key = self.key.replace(top, &here);
            self.reason = self.reason.replace(top, &here);
            self.remedy = self.remedy.replace(top, &here);
        }
        self
    }

    /// Moves the fault into the tables of member `place` of the array.
    pub(super) fn at_member(mut self, place: usize) -> Self {
        let table = format!("array.members[{place}].");
        if self.reason.starts_with(&self.key) {
            self.reason.insert_str(0, &table);
        }
        self.key.insert_str(0, &table);
        self.others = &[];
        self
    }

    /// Names further keys that contribute to the fault.
    pub(super) fn with(mut self, others: &'static [&'static str]) -> Self {
        self.others = others;
        self
    }
}

/// Most bytes of a fault, and of a remedy, in a message.
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
