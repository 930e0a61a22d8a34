//! How a run can fail in an array.

use std::fmt::Display;

use thiserror::Error;
use wordline_device::DeviceError;

/// How what serves requests can fail.
pub trait Failure: Display {
    /// Whether it is no fault: the user ended the run.
    fn is_interruption(&self) -> bool;
}

impl Failure for DeviceError {
    fn is_interruption(&self) -> bool {
        Self::is_interruption(self)
    }
}

impl Failure for ArrayError {
    fn is_interruption(&self) -> bool {
        let (Self::Whole(error) | Self::Member { error, .. }) = self;
        error.is_interruption()
    }
}

/// A run that cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ArrayError {
    /// A request that the array refuses.
    #[error(transparent)]
    Whole(DeviceError),
    /// A member failed.
    #[error("member {name}: {error}")]
    Member {
        /// Its name.
        name: String,
        /// How.
        error: DeviceError,
    },
}
