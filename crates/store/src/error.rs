//! How a run can fail in an array.

use thiserror::Error;
use wordline_device::DeviceError;

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
