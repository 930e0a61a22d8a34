//! Files of a trace.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use wordline_trace_format::Format;

/// File of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFile {
    /// Path of the file, as given.
    pub path: PathBuf,
    /// Format of the file, as given or as detected from its content.
    pub format: Format,
    /// Feature by which the format was detected; `None` if it was given.
    pub recognised_by: Option<&'static str>,
    /// Unit of its time stamps; empty if it has none.
    pub time_unit: &'static str,
    /// Doubt about the format, if any.
    pub warning: Option<String>,
}

/// File of a trace, as listed in results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InputFile {
    /// Path of the file, as given.
    pub path: String,
    /// Name of its format.
    pub format: &'static str,
    /// Unit of its time stamps; `None` if it has none.
    pub time_unit: Option<&'static str>,
    /// Feature by which its format was detected; `None` if it was given.
    pub recognised_by: Option<&'static str>,
}

impl InputFile {
    /// Describes a file.
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
