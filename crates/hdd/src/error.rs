//! Errors of a disk.

use thiserror::Error;
use wordline_block::{BeyondEnd, Failure};

/// Error of a disk.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DiskError {
    /// The request is outside the disk.
    #[error(transparent)]
    BeyondEnd(#[from] BeyondEnd),
}

impl Failure for DiskError {
    fn is_interruption(&self) -> bool {
        false
    }
}
