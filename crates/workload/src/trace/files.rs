//! The files of a trace.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use wordline_trace_format::Format;

/// A file of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFile {
    /// As it was named.
    pub path: PathBuf,
    /// As it was named or told by its content.
    pub format: Format,
    /// What it was recognised by; none if it was named.
    pub recognised_by: Option<&'static str>,
    /// The unit in which it states times; empty if it states none.
    pub time_unit: &'static str,
    /// What is doubtful about that.
    pub warning: Option<String>,
}

/// A file of a trace, as results tell of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InputFile {
    /// As it was named.
    pub path: String,
    /// The name of its format.
    pub format: &'static str,
    /// The unit in which it states times; none if it states none.
    pub time_unit: Option<&'static str>,
    /// What its format was recognised by; none if it was named.
    pub recognised_by: Option<&'static str>,
}

impl InputFile {
    /// What is told of a file.
    pub fn of(file: &TraceFile) -> Self {
        let unit = file.time_unit;
        Self {
            path: file.path.display().to_string(),
            format: file.format.name(),
            time_unit: (!unit.is_empty()).then_some(unit),
            recognised_by: file.recognised_by,
        }
    }
}
