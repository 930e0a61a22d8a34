//! Lines and records that are wrong.

/// What to do with a line or record that is wrong: a number that is none, a missing column, length
/// zero, a range beyond 2^64 bytes, a time beyond the reach of the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnBadLine {
    /// End with an error.
    #[default]
    Error,
    /// Leave it out and count it.
    Skip,
}

words! { OnBadLine at "on_bad_line" { "error" => Error, "skip" => Skip } }
