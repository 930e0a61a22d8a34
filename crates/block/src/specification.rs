//! Plans of devices: their figures, and why a device cannot be built.

use thiserror::Error;

/// Fault of a device's configuration.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{key}: {reason}; {remedy}")]
pub struct PlanError {
    /// Configuration key to change.
    pub key: &'static str,
    /// Fault, with its numbers.
    pub reason: String,
    /// Change that removes the fault.
    pub remedy: String,
}

/// Figures of a planned device that its data sheet would state.
pub trait Specification {
    /// Capacity that the host can address. Bytes.
    fn capacity_bytes(&self) -> u64;
    /// Requests that the device holds at once; [`u32::MAX`] without a limit.
    fn queue_depth(&self) -> u32;
    /// Returns `true` if the device completes writes that a power cut may lose, unless they are FUA or flushed.
    fn is_volatile(&self) -> bool;
    /// Mean time in which the idle device reads or writes a page of `page_bytes`. Microseconds.
    fn page_us(&self, page_bytes: u64, write: bool) -> f64;
}
