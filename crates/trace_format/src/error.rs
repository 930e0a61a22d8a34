//! Errors of traces and generated loads.

use std::fmt;
use std::path::{Path, PathBuf};

/// Error of a workload: the place, the fault and the remedy. Displays as one line.
///
/// ```text
/// x.csv.gz:17: column 6: the size is 0; correct the file, or pass --on-bad-line skip
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

/// Position of a fault in a file or in a configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The file or the configuration key as a whole.
    #[default]
    Whole,
    /// A line of a text file. Lines are counted from 1.
    Line(u64),
    /// A record of a binary file.
    Record {
        /// Number of the record, from 1.
        number: u64,
        /// Offset of its first byte in the decompressed file, from 0.
        byte: u64,
    },
}

impl WorkloadError {
    /// Creates an error of a whole file or configuration key.
    pub fn new(path: &Path, reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::at(path, Place::Whole, None, reason, remedy)
    }
    /// Creates an error at a place. Columns are counted from 1.
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
    /// Creates the error that the user interrupted the reading of a file.
    pub fn interruption(path: &Path) -> Self {
        let mut error = Self::new(path, "interrupted", "");
        error.0.interruption = true;
        error
    }
    /// Returns `true` if the user interrupted the reading, which is not a fault.
    pub fn is_interruption(&self) -> bool {
        self.0.interruption
    }
    /// Returns the path of the file, or the configuration key.
    pub fn path(&self) -> &Path {
        &self.0.path
    }
    /// Returns the line or record; [`Place::Whole`] if there is none.
    pub fn place(&self) -> Place {
        self.0.place
    }
    /// Returns the column, from 1; `None` if the error has no column.
    pub fn column(&self) -> Option<u32> {
        self.0.column
    }
    /// Returns the fault, without its place and remedy.
    pub fn reason(&self) -> &str {
        &self.0.reason
    }
    /// Returns the remedy. It is empty if there is none.
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

/// Fault of a line or record, without its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Column, from 1; `None` if the fault concerns the whole line or record.
    pub column: Option<u32>,
    /// Reason, as shown in the message.
    pub reason: String,
    /// Set if only a time stamp is at fault. Uses that do not need times can ignore the fault.
    pub stamp: Option<Stamp>,
}

/// Time stamp that is outside the range of the clock, empty, or has decimals that the format does not
/// allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Offset of its field in the line. Bytes.
    pub start: usize,
    /// Length of the field. Bytes.
    pub length: usize,
    /// Whether the time stamp is too large. Otherwise it is empty, negative, or has decimals that the
    /// format does not allow.
    pub beyond: bool,
}

impl Fault {
    /// Creates a fault of a whole line or record.
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            column: None,
            reason: reason.into(),
            stamp: None,
        }
    }
    /// Creates a fault of a column, counted from 1.
    #[cold]
    pub fn column(column: u32, reason: impl Into<String>) -> Self {
        Self {
            column: Some(column),
            reason: reason.into(),
            stamp: None,
        }
    }
}

/// Formats bytes of a trace for an error message: printable, on one line, in quotes. At most the
/// first 40 characters are shown.
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
