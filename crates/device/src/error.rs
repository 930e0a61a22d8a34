//! How a run can fail in a device.

use thiserror::Error;
use wordline_cache::replacement::foreign::Fault;
use wordline_ftl::instant::InstantError;
use wordline_kernel::Time;
use wordline_nand::Violation;

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
    #[error(
        "request at byte {offset} of {bytes} bytes ends beyond the device's {capacity} bytes; fit the requests to the device"
    )]
    BeyondEnd {
        /// First byte.
        offset: u64,
        /// Length.
        bytes: u64,
        /// What the host can address.
        capacity: u64,
    },
}

impl DeviceError {
    /// Whether it is no fault: the user ended the run while a policy of theirs was at work.
    pub fn is_interruption(&self) -> bool {
        matches!(self, Self::Policy(Fault::Interrupted))
    }
}
