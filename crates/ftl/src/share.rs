//! Shares of blocks and pages.

/// `ratio` of `count`, rounded down; a product that misses a whole number by the rounding of its
/// factors is that number, so that 0.29 of 100 is 29.
pub(crate) fn share(ratio: f64, count: u32) -> u32 {
    (ratio * f64::from(count) * (1.0 + 1e-12)).floor() as u32
}
