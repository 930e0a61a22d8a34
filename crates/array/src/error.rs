//! How a run can fail in a store.

use thiserror::Error;
use wordline_block::{BeyondEnd, Failure};

use crate::kinds::StoreError;

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

impl From<ArrayError<Self>> for StoreError {
    fn from(error: ArrayError<Self>) -> Self {
        match error {
            ArrayError::BeyondEnd(error)
            | ArrayError::Member {
                error: Self::BeyondEnd(error),
                ..
            } => Self::BeyondEnd(error),
            ArrayError::Member {
                name,
                error: Self::Member { name: inner, error },
            } => Self::Member {
                name: format!("{name}.{inner}"),
                error,
            },
            ArrayError::Member { name, error } => Self::Member {
                name,
                error: Box::new(error),
            },
        }
    }
}
