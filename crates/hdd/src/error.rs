//! Errors of a disk and its configuration.

use thiserror::Error;
use wordline_block::{BeyondEnd, Failure};

/// Error of a disk that cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{key}: {reason}; {remedy}")]
pub struct PlanError {
    /// Key to change.
    pub key: &'static str,
    /// Fault, with its numbers.
    pub reason: String,
    /// Remedy.
    pub remedy: String,
}

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
