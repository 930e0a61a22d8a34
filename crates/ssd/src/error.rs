//! Errors of a device.

use thiserror::Error;
use wordline_block::{BeyondEnd, Failure};
use wordline_cache::replacement::foreign::Fault;
use wordline_ftl::untimed::InstantError;
use wordline_kernel::Time;
use wordline_nand::Violation;

/// Result of device operations.
pub(crate) type Result<T, E = DeviceError> = std::result::Result<T, E>;

/// Error that ends a run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DeviceError {
    /// The array rejected an operation.
    #[error("at {at}: {violation}")]
    Violation {
        /// Time of the operation.
        at: Time,
        /// Violated rule.
        violation: Violation,
    },
    /// Preconditioning failed.
    #[error("preconditioning: {0}")]
    Precondition(#[from] InstantError),
    /// Verification failed: a read did not return what was written, or recovery from a power cut
    /// did not restore it.
    #[error("{0}")]
    Verification(String),
    /// A custom policy failed.
    #[error(transparent)]
    Policy(Fault),
    /// Power was cut without the data that recovery needs.
    #[error(
        "power cuts need spare areas, which this run does not record; start it with --power-cut-every"
    )]
    NoSpares,
    /// A request is beyond the end of the device.
    #[error(transparent)]
    BeyondEnd(#[from] BeyondEnd),
}

impl Failure for DeviceError {
    /// Returns `true` if the user interrupted the run during a call of a custom policy.
    fn is_interruption(&self) -> bool {
        matches!(self, Self::Policy(Fault::Interrupted))
    }
}

impl From<wordline_dram_buffer::Error> for DeviceError {
    fn from(error: wordline_dram_buffer::Error) -> Self {
        match error {
            wordline_dram_buffer::Error::Verification(what) => Self::Verification(what),
            wordline_dram_buffer::Error::Policy(fault) => Self::Policy(fault),
        }
    }
}
