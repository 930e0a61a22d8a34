//! Metrics computed from counts and times.

use crate::device::Device;
use crate::unit::unit;
use wordline_kernel::Time;
use wordline_observe::Heading;
use wordline_ssd::Usage;

pub(super) fn us(time: Time) -> f64 {
    time.as_us()
}

/// Returns the heading of a column, with the unit from its name.
pub(super) fn heading(name: &'static str, meaning: &'static str) -> Heading {
    Heading::new(name, unit(name), meaning)
}

/// Returns part / whole; `None` if `whole` is 0.
pub(crate) fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Returns the mean of counts; 0 if there are none.
pub(crate) fn mean(values: impl Iterator<Item = u32> + Clone) -> f64 {
    let count = values.clone().count().max(1) as f64;
    values.map(u64::from).sum::<u64>() as f64 / count
}

pub(super) fn usage(devices: &[Device]) -> impl Iterator<Item = &Usage> + Clone {
    devices.iter().flat_map(|device| &device.usage)
}
