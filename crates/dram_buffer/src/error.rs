//! How a buffer can fail.

use thiserror::Error;
use wordline_cache::replacement::foreign::Fault;

/// A run that cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// A read returned something else than what was written.
    #[error("{0}")]
    Verification(String),
    /// A policy that came from elsewhere has gone wrong.
    #[error(transparent)]
    Policy(Fault),
}
