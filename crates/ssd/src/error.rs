//! How a run can fail in a device.

use thiserror::Error;
use wordline_block::{BeyondEnd, Failure};
use wordline_cache::replacement::foreign::Fault;
use wordline_ftl::untimed::InstantError;
use wordline_kernel::Time;
use wordline_nand::Violation;

/// What a device answers unless it fails.
pub(crate) type Result<T, E = DeviceError> = std::result::Result<T, E>;

/// A run that cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DeviceError {
    /// The array refused an operation.
    #[error("at {at}: {violation}")]
    Violation {
        /// When.
        at: Time,
        /// Which rule.
        violation: Violation,
    },
    /// Preconditioning failed.
    #[error("preconditioning: {0}")]
    Precondition(#[from] InstantError),
    /// A read returned something else than what was written.
    #[error("{0}")]
    Verification(String),
    /// A policy that came from elsewhere has gone wrong.
    #[error(transparent)]
    Policy(Fault),
    /// A power cut that nothing was kept for.
    #[error("the power cannot fail: spare areas are kept from the start of a run that expects it")]
    NoSpares,
    /// A request outside the device.
    #[error(transparent)]
    BeyondEnd(#[from] BeyondEnd),
}

impl Failure for DeviceError {
    /// The user ended the run while a policy of theirs was at work.
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
