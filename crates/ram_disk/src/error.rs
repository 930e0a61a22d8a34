//! Errors of a RAM disk.

use thiserror::Error;
use wordline_block::{BeyondEnd, Failure};

/// Error of a RAM disk.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RamDiskError {
    /// The request is outside the disk.
    #[error(transparent)]
    BeyondEnd(#[from] BeyondEnd),
}

impl Failure for RamDiskError {
    fn is_interruption(&self) -> bool {
        false
    }
}
