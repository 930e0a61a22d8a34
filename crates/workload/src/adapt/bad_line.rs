//! Rule for bad lines and records of a trace.

/// Treatment of a bad line or record. It is bad if it has, for example, text in place of a number,
/// a missing column, an unknown operation, a length of zero, a range beyond 2^64 bytes, or a time
/// that is empty or negative. A time beyond the range of the clock does not make a line bad: it is
/// an error, unless the times are not needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnBadLine {
    /// Stop with an error.
    #[default]
    Error,
    /// Skip the line and count it.
    Skip,
}

words! { OnBadLine at "on_bad_line" { "error" => Error, "skip" => Skip } }
