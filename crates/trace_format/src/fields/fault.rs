//! Faults of the fields of a line.

use crate::error::{Fault, Stamp, shown};

#[cold]
pub(super) fn beyond(column: u32, what: &str, units: u64, bytes: u64) -> Fault {
    let reason = format!("the {what} {units} (units of {bytes} bytes) is beyond 2^64 bytes");
    Fault::column(column, reason)
}

#[cold]
pub(super) fn missing(column: u32, what: &str) -> Fault {
    Fault::column(
        column,
        format!("the {what} is missing: the line ends before it"),
    )
}

#[cold]
pub(super) fn surplus(column: u32, rest: &[u8]) -> Fault {
    Fault::column(
        column + 1,
        format!(
            "the format has no such column, but the line has {}",
            shown(rest)
        ),
    )
}

/// Returns the time stamp in a field of a line; `None` if the field is neither empty nor a number.
/// `has_decimals`: whether time stamps of the format may have decimals.
#[cold]
pub(super) fn stamp_in(line: &[u8], field: &[u8], has_decimals: bool) -> Option<Stamp> {
    let text = field.trim_ascii();
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let number = digits.first().is_some_and(u8::is_ascii_digit)
        && std::str::from_utf8(digits).is_ok_and(|text| text.parse::<f64>().is_ok());
    (number || text.is_empty()).then(|| Stamp {
        start: field.as_ptr().addr() - line.as_ptr().addr(),
        length: field.len(),
        beyond: number
            && digits.len() == text.len()
            && (has_decimals || digits.iter().all(u8::is_ascii_digit)),
    })
}
