//! How a run can fail in a store.

use thiserror::Error;
use wordline_block::{BeyondEnd, Failure};

/// A run that cannot go on, in an array of devices that fail with `E`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ArrayError<E> {
    /// A request outside the array.
    #[error(transparent)]
    BeyondEnd(#[from] BeyondEnd),
    /// A member failed.
    #[error("member {name}: {error}")]
    Member {
        /// Its name.
        name: String,
        /// How.
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
