//! How a run can fail in a store.

use thiserror::Error;
use wordline_block::{BeyondEnd, Failure};
use wordline_flash_cache::CachedError;
use wordline_hdd::DiskError;
use wordline_ssd::DeviceError;

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

/// A run that cannot go on, in a store of any shape.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StoreError {
    /// A request outside the store.
    #[error(transparent)]
    BeyondEnd(#[from] BeyondEnd),
    /// An SSD failed.
    #[error(transparent)]
    Ssd(DeviceError),
    /// A disk failed.
    #[error(transparent)]
    Disk(DiskError),
    /// A cached store failed.
    #[error(transparent)]
    Cached(Box<CachedError<Self>>),
    /// A member of an array failed, at any depth.
    #[error("member {name}: {error}")]
    Member {
        /// Its name, behind those of the arrays around it.
        name: String,
        /// How.
        error: Box<Self>,
    },
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

impl Failure for StoreError {
    fn is_interruption(&self) -> bool {
        match self {
            Self::BeyondEnd(_) => false,
            Self::Ssd(error) => error.is_interruption(),
            Self::Disk(error) => error.is_interruption(),
            Self::Cached(error) => error.is_interruption(),
            Self::Member { error, .. } => error.is_interruption(),
        }
    }
}
