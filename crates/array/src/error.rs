//! Errors of an array.

use thiserror::Error;
use wordline_block::{BeyondEnd, Failure};

/// Error of an array whose devices fail with `E`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ArrayError<E> {
    /// The request is outside the array.
    #[error(transparent)]
    BeyondEnd(#[from] BeyondEnd),
    /// A member failed.
    #[error("member {name}: {error}")]
    Member {
        /// Name of the member.
        name: String,
        /// Error of the member.
        error: E,
    },
}

impl<E: Failure> Failure for ArrayError<E> {
    fn is_interruption(&self) -> bool {
        match self {
            Self::BeyondEnd(_) => false,
            Self::Member { error, .. } => error.is_interruption(),
        }
    }
}
