//! How a disk, and a run of it, can fail.

use thiserror::Error;
use wordline_block::{BeyondEnd, Failure};

/// A disk that cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{key}: {reason}; {remedy}")]
pub struct PlanError {
    /// The key to change.
    pub key: &'static str,
    /// What is wrong, with the numbers.
    pub reason: String,
    /// What to do.
    pub remedy: String,
}

/// A run that cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DiskError {
    /// A request outside the disk.
    #[error(transparent)]
    BeyondEnd(#[from] BeyondEnd),
}

impl Failure for DiskError {
    fn is_interruption(&self) -> bool {
        false
    }
}
