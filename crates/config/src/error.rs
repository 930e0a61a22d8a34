//! What is wrong with a configuration.

use std::fmt;

use super::origin::cut;
use super::{Origin, SCHEMA};

/// A configuration that cannot be read or cannot work.
///
/// Displayed as one line, `where: what; remedy`; below it, for a fault in a file, the line of the
/// file with a caret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Where the fault was said.
    pub origin: Origin,
    /// The key concerned, such as `host.queue_depth`; empty if the text is no TOML.
    pub key: String,
    /// What is wrong, with the value and the rule.
    pub reason: String,
    /// What to do.
    pub remedy: String,
    /// Further keys whose values take part in the fault.
    pub(super) others: &'static [&'static str],
}

impl ConfigError {
    /// `key = value` breaks a rule.
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

    /// A configuration of another version.
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

    /// What stands at `key` cannot be, for a reason that is no single value's.
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

    /// The fault of a table that stands inside `table`, which is empty or ends in a dot: every path that
    /// is named begins there.
    pub(super) fn inside(mut self, table: &str) -> Self {
        for top in ["workload.", "replay."] {
            let here = format!("{table}{top}");
            self.key = self.key.replace(top, &here);
            self.reason = self.reason.replace(top, &here);
            self.remedy = self.remedy.replace(top, &here);
        }
        self
    }

    /// The fault of a key in the tables of a member of the array.
    pub(super) fn at_member(mut self, place: usize) -> Self {
        let table = format!("array.members[{place}].");
        if self.reason.starts_with(&self.key) {
            self.reason.insert_str(0, &table);
        }
        self.key.insert_str(0, &table);
        self.others = &[];
        self
    }

    /// Other keys share the blame.
    pub(super) fn with(mut self, others: &'static [&'static str]) -> Self {
        self.others = others;
        self
    }
}

/// Most bytes of a fault and of a remedy in a message.
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
