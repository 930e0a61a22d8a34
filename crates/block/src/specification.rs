//! Data-sheet values of a planned device, and faults of its configuration.

use thiserror::Error;

/// Fault of a device's configuration.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{key}: {reason}; {remedy}")]
pub struct PlanError {
    /// Configuration key to change.
    pub key: &'static str,
    /// Description of the fault, with its numbers.
    pub reason: String,
    /// Change that removes the fault.
    pub remedy: String,
}

/// Values of a planned device that its data sheet would state.
pub trait Specification {
    /// Returns the capacity that the host can address. Bytes.
    fn capacity_bytes(&self) -> u64;
    /// Returns the maximum number of outstanding requests; [`u32::MAX`] without a limit.
    fn queue_depth(&self) -> u32;
    /// Returns `true` if the device completes writes that a power cut may lose, unless they are FUA
    /// or flushed.
    fn is_volatile(&self) -> bool;
    /// Returns the mean time in which the idle device reads or writes a page of `page_bytes`.
    /// Microseconds.
    fn page_us(&self, page_bytes: u64, write: bool) -> f64;
}
