//! Errors of the buffer.

use thiserror::Error;
use wordline_cache::replacement::foreign::Fault;

/// Error of a run with a DRAM buffer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// A read returned data other than what was written, or a power cut lost data despite
    /// capacitors.
    #[error("{0}")]
    Verification(String),
    /// A custom replacement policy failed.
    #[error(transparent)]
    Policy(Fault),
}
