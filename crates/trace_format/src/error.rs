//! What can be wrong with a workload.

use std::fmt;
use std::path::{Path, PathBuf};

/// A fault of a workload: where, what, and what to do. Displays as one line.
///
/// ```text
/// x.csv.gz:17: column 6: the size is 0; correct the line, or pass --on-bad-line skip
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadError(Box<Parts>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Parts {
    path: PathBuf,
    place: Place,
    column: Option<u32>,
    reason: String,
    remedy: String,
    interruption: bool,
}

/// Where in a file, or in a config, a fault lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Nowhere in particular: the file or the config key as a whole.
    #[default]
    Whole,
    /// A line of a text file, counted from 1.
    Line(u64),
    /// A record of a binary file.
    Record {
        /// Counted from 1.
        number: u64,
        /// Of its first byte in the decompressed file, counted from 0.
        byte: u64,
    },
}

impl WorkloadError {
    /// A fault of the file, or of the config key, as a whole.
    pub fn new(path: &Path, reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::at(path, Place::Whole, None, reason, remedy)
    }
    /// A fault at a place, in a column counted from 1.
    pub fn at(
        path: &Path,
        place: Place,
        column: Option<u32>,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self(Box::new(Parts {
            path: path.to_owned(),
            place,
            column,
            reason: reason.into(),
            remedy: remedy.into(),
            interruption: false,
        }))
    }
    /// The user ended the reading of a file.
    pub fn interruption(path: &Path) -> Self {
        let mut error = Self::new(path, "interrupted", "");
        error.0.interruption = true;
        error
    }
    /// Whether the user wanted it.
    pub fn is_interruption(&self) -> bool {
        self.0.interruption
    }
    /// The file, or the config key.
    pub fn path(&self) -> &Path {
        &self.0.path
    }
    /// The line or record.
    pub fn place(&self) -> Place {
        self.0.place
    }
    /// The column, counted from 1.
    pub fn column(&self) -> Option<u32> {
        self.0.column
    }
    /// What is wrong.
    pub fn reason(&self) -> &str {
        &self.0.reason
    }
    /// What to do about it; may be empty.
    pub fn remedy(&self) -> &str {
        &self.0.remedy
    }
}

impl fmt::Display for WorkloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts {
            path,
            place,
            column,
            reason,
            remedy,
            ..
        } = &*self.0;
        write!(f, "{}", path.display())?;
        match place {
            Place::Whole => {}
            Place::Line(line) => write!(f, ":{line}")?,
            Place::Record { number, byte } => write!(f, ": record {number} at byte {byte}")?,
        }
        if let Some(column) = column {
            write!(f, ": column {column}")?;
        }
        write!(f, ": {reason}")?;
        if !remedy.is_empty() {
            write!(f, "; {remedy}")?;
        }
        Ok(())
    }
}

impl std::error::Error for WorkloadError {}

/// What is wrong with a line or record, before it is known which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The column, counted from 1, if it is known.
    pub column: Option<u32>,
    /// The reason, as a message gives it.
    pub reason: String,
    /// Set if nothing is wrong but a time stamp, as those who have no use for time may overlook.
    pub stamp: Option<Stamp>,
}

/// A time stamp that is a number, or nothing, but no time of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Where its field begins in the line.
    pub start: usize,
    /// Bytes of the field.
    pub length: usize,
    /// Whether it is too large, rather than empty or negative.
    pub beyond: bool,
}

impl Fault {
    /// A fault of a line or record as a whole.
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            column: None,
            reason: reason.into(),
            stamp: None,
        }
    }
    /// A fault of one column, counted from 1.
    #[cold]
    pub fn column(column: u32, reason: impl Into<String>) -> Self {
        Self {
            column: Some(column),
            reason: reason.into(),
            stamp: None,
        }
    }
}

/// Bytes of a trace as an error message may show them: printable, one line, at most 40 characters.
pub fn shown(bytes: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text: String = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * LONGEST)])
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .take(LONGEST)
        .collect();
    let more = if text.len() < bytes.len() && text.chars().count() == LONGEST {
        "..."
    } else {
        ""
    };
    format!("`{text}{more}`")
}
