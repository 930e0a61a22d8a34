//! Faults of model parameters, and conversion of configuration units.

use wordline_kernel::Time;

/// Fault in the parameters of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Key of the parameter.
    pub key: &'static str,
    /// Description of the fault, with its numbers.
    pub reason: String,
    /// Change that removes the fault.
    pub remedy: &'static str,
}

/// Converts microseconds from a configuration; negative values give zero.
pub(crate) fn us(time: f64) -> Time {
    Time::from_ps((time * 1e6).round().max(0.0) as u64)
}

/// Converts a share to thousandths, rounded; negative shares give 0.
pub(crate) fn thousandths(share: f64) -> u32 {
    (share * 1e3).round().max(0.0) as u32
}
