//! Faults of model parameters, and conversion of configuration units.

use wordline_kernel::Time;

/// Fault of a model whose parameters contradict each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Key of the parameter.
    pub key: &'static str,
    /// Fault.
    pub reason: String,
    /// Remedy.
    pub remedy: &'static str,
}

/// Converts microseconds of a configuration.
pub(crate) fn us(time: f64) -> Time {
    Time::from_ps((time * 1e6).round().max(0.0) as u64)
}

/// Converts a share to thousandths.
pub(crate) fn thousandths(share: f64) -> u32 {
    (share * 1e3).round().max(0.0) as u32
}
