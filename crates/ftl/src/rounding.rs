//! Rounding of shares of blocks and pages.

/// Returns the share `ratio` of `count`, rounded down. A product that is below a whole number only
/// because of floating-point rounding counts as that number, so that 0.29 of 100 is 29.
pub(crate) fn share(ratio: f64, count: u32) -> u32 {
    (ratio * f64::from(count) * (1.0 + 1e-12)).floor() as u32
}
