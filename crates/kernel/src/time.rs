//! Simulated time: an integer number of picoseconds.

use serde::{Deserialize, Serialize};

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

/// Point in simulated time, or duration. Picoseconds.
///
/// 64 bits cover 213 days. Arithmetic is checked in builds with overflow checks; durations that
/// user input could make overflow use the `checked_` and `try_` forms.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Time(pub u64);

impl Time {
    /// Start of a simulation, or empty duration.
    pub const ZERO: Self = Self(0);
    /// Last representable time; stands for "never".
    pub const MAX: Self = Self(u64::MAX);

    /// Creates a time of `n` picoseconds.
    pub const fn from_ps(n: u64) -> Self {
        Self(n)
    }
    /// Creates a time of `n` nanoseconds. Panics on overflow, in constant evaluation and in builds
    /// with overflow checks; use [`Time::try_from_ns`] for user input.
    pub const fn from_ns(n: u64) -> Self {
        Self(n * 1_000)
    }
    /// Creates a time of `n` microseconds. Panics on overflow as [`Time::from_ns`] does.
    pub const fn from_us(n: u64) -> Self {
        Self(n * 1_000_000)
    }
    /// Creates a time of `n` milliseconds. Panics on overflow as [`Time::from_ns`] does.
    pub const fn from_ms(n: u64) -> Self {
        Self(n * 1_000_000_000)
    }
    /// Creates a time of `n` nanoseconds, or returns `None` if it exceeds the range.
    pub const fn try_from_ns(n: u64) -> Option<Self> {
        match n.checked_mul(1_000) {
            Some(ps) => Some(Self(ps)),
            None => None,
        }
    }
    /// Returns the time in picoseconds.
    pub const fn ps(self) -> u64 {
        self.0
    }
    /// Returns the time in whole nanoseconds, rounded down.
    pub const fn ns(self) -> u64 {
        self.0 / 1_000
    }
    /// Returns the time in microseconds, for display.
    pub fn as_us(self) -> f64 {
        self.0 as f64 / 1e6
    }
    /// Returns the time in seconds, for display.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e12
    }
    /// Returns the duration from `earlier` to `self`; zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
    /// Returns the sum, or `None` if it exceeds the range.
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(sum) => Some(Self(sum)),
            None => None,
        }
    }
}

impl Add for Time {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}
impl AddAssign for Time {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}
impl Sub for Time {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}
impl SubAssign for Time {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}
impl Mul<u64> for Time {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0 * factor)
    }
}
impl Sum for Time {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Time {
    /// Formats the time with three decimals, in the largest unit in which it is at least 1; below 1
    /// ns, in whole picoseconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 4] = [
            (1_000_000_000_000, "s"),
            (1_000_000_000, "ms"),
            (1_000_000, "us"),
            (1_000, "ns"),
        ];
        for (scale, unit) in UNITS {
            if self.0 >= scale {
                return write!(f, "{:.3} {unit}", self.0 as f64 / scale as f64);
            }
        }
        write!(f, "{} ps", self.0)
    }
}
