//! Reading ends because the user wants it to.

use std::sync::Arc;
use std::{fmt, io};

/// Says whether reading has to end: the user wants it to.
pub type Stop = Arc<dyn Fn() -> bool + Send + Sync>;

/// The user wanted reading to end.
#[derive(Debug)]
pub(crate) struct Stopped;

impl Stopped {
    /// The error of a reading that is ended.
    pub(crate) fn error() -> io::Error {
        io::Error::other(Self)
    }
    /// Whether an error is that.
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
