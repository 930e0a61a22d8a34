//! Interruption of reading by the user.

use std::sync::Arc;
use std::{fmt, io};

/// Callback that returns `true` if the user wants to stop reading.
pub type Stop = Arc<dyn Fn() -> bool + Send + Sync>;

/// Error of an interrupted reading.
#[derive(Debug)]
pub(crate) struct Stopped;

impl Stopped {
    /// Creates the error of an interrupted reading.
    pub(crate) fn error() -> io::Error {
        io::Error::other(Self)
    }
    /// Returns `true` if an error was caused by an interruption of the reading.
    pub(crate) fn caused(error: &io::Error) -> bool {
        error
            .get_ref()
            .is_some_and(<dyn std::error::Error + Send + Sync + 'static>::is::<Self>)
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Stopped {}
