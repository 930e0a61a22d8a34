//! Parameters that contradict each other, and units of configurations.

use wordline_kernel::Time;

/// A model whose parameters contradict each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The parameter.
    pub key: &'static str,
    /// What is wrong.
    pub reason: String,
    /// What to do.
    pub remedy: &'static str,
}

/// Microseconds of a configuration.
pub(crate) fn us(time: f64) -> Time {
    Time::from_ps((time * 1e6).round().max(0.0) as u64)
}

/// A share in thousandths.
pub(crate) fn thousandths(share: f64) -> u32 {
    (share * 1e3).round().max(0.0) as u32
}
