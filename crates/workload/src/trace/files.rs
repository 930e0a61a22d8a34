//! Files of a trace.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use wordline_trace_format::Format;

/// File of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFile {
    /// Path of the file as given.
    pub path: PathBuf,
    /// Format of the file: given, or detected from its content.
    pub format: Format,
    /// Feature by which the format was detected; `None` if the format was given.
    pub recognised_by: Option<&'static str>,
    /// Unit of the file's time stamps; empty if it has none.
    pub time_unit: &'static str,
    /// Warning that the format is ambiguous; `None` if it is not.
    pub warning: Option<String>,
}

/// File of a trace, as listed in results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InputFile {
    /// Path of the file as given.
    pub path: String,
    /// Name of the file's format.
    pub format: &'static str,
    /// Unit of the file's time stamps; `None` if it has none.
    pub time_unit: Option<&'static str>,
    /// Feature by which the format was detected; `None` if the format was given.
    pub recognised_by: Option<&'static str>,
}

impl InputFile {
    /// Returns the description of a trace file for the results.
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
