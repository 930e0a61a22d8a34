//! Effect of the program step on errors: the raw bit error rate as a function of the step size of
//! incremental step pulse programming (ISPP).
//!
//! After programming in steps, the threshold voltage of a cell is uniformly distributed within one
//! step above the verify level of its state, plus noise. Two states are `D` apart, and the read
//! reference is midway between their ranges. A cell is read wrongly if noise moves it across the
//! reference. Lengths are in medium steps.

use serde::{Deserialize, Serialize};

use crate::mode::ProgramMode;
use crate::normal;

/// Returns the error rate at one boundary between states `distance` apart, programmed in steps of
/// `step`, with Gaussian noise of standard deviation `noise`: `(1/step)` times the integral of `Q(x
/// / noise)` over `x` from `(distance - step) / 2` to `(distance + step) / 2`.
pub fn error_rate(distance: f64, step: f64, noise: f64) -> f64 {
    if noise <= 0.0 {
        return 0.0;
    }
    let at = |x: f64| normal::tail_integral(x / noise);
    noise / step * (at((distance - step) / 2.0) - at(f64::midpoint(distance, step)))
}

/// Returns the noise for which [`error_rate`] is `rate`. It is at most 64 steps, which gives a rate
/// of nearly one half.
pub fn noise_for(distance: f64, step: f64, rate: f64) -> f64 {
    let (mut low, mut high) = (0.0, 64.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if error_rate(distance, step, middle) < rate {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// Step and voltage range of a mode, relative to medium mode.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Program step, relative to that of medium mode. Ratio.
    pub step: f64,
    /// Threshold voltage relative to that of medium mode. The distance of the states is
    /// proportional to it. Ratio.
    pub voltage: f64,
}

impl Step {
    /// Step of medium mode.
    pub const MEDIUM: Self = Self {
        step: 1.0,
        voltage: 1.0,
    };
}

/// Raw bit error rate of each mode as a function of the rate of medium mode at the same age: the
/// noise derived from one rate determines the others. The rates are tabulated in steps of a twelfth
/// of an octave, and their logarithms are interpolated linearly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shift {
    /// Logarithms of the rates at the grid's rates, per mode.
    rates: [Vec<f64>; 4],
}

/// Raw bit error rate of multi-bit cells in single-level mode as a function of the rate of the same
/// cells in normal mode: the noise derived from one rate determines the other. In single-level
/// mode, two of the `2^b` states in a voltage range remain, and they are `2^b - 1` times as far
/// apart. With Gaussian noise, a boundary is crossed with probability `Q(x)` in normal mode and
/// `Q((2^b - 1) x)` in single-level mode. Real tails are wider, so such small rates are a lower
/// bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SingleLevel {
    /// Logarithms of the rates at the grid's rates.
    rates: Vec<f64>,
}

impl SingleLevel {
    /// Builds the table for cells of `bits` bits, whose neighbouring states differ in one bit (Gray
    /// code): each `Q` causes errors in `(2 - 2^(1 - b)) / b` of a cell's `b` bits.
    pub fn new(bits: u32) -> Self {
        let states = libm::exp2(f64::from(bits));
        let share = (2.0 - 2.0 / states) / f64::from(bits);
        let of = |rate: f64| {
            let crossed = normal::tail((states - 1.0) * normal::quantile((rate / share).min(0.5)));
            libm::log2(crossed.max(f64::MIN_POSITIVE))
        };
        Self {
            rates: grid().map(of).collect(),
        }
    }
    /// Returns the rate in single-level mode of a page that would have `rate` in the normal mode of
    /// the part.
    pub fn rate(&self, rate: f64) -> f64 {
        if rate <= 0.0 {
            return rate;
        }
        between(&self.rates, rate)
    }
}

/// Octaves of the grid of rates, which extends from 2^-40 to one half. Count.
const OCTAVES: f64 = 39.0;
const PER_OCTAVE: f64 = 12.0;
const LEAST: f64 = -40.0;

fn grid() -> impl Iterator<Item = f64> {
    let points = (OCTAVES * PER_OCTAVE) as u32;
    (0..=points).map(|point| libm::exp2(LEAST + f64::from(point) / PER_OCTAVE))
}

/// Interpolates logarithms given at the grid's rates.
fn between(rates: &[f64], rate: f64) -> f64 {
    let place = ((libm::log2(rate) - LEAST) * PER_OCTAVE).clamp(0.0, OCTAVES * PER_OCTAVE);
    let below = (place as usize).min(rates.len() - 2);
    let share = place - below as f64;
    libm::exp2(rates[below] * (1.0 - share) + rates[below + 1] * share).min(0.5)
}

impl Shift {
    /// Builds the table for states `distance` medium steps apart, with the steps of each mode.
    pub fn new(distance: f64, steps: &[Step; 4]) -> Self {
        let medium = steps[ProgramMode::Medium.index()];
        let noise: Vec<f64> = grid()
            .map(|rate| noise_for(distance * medium.voltage, medium.step, rate))
            .collect();
        let rates = steps.map(|Step { step, voltage }| {
            let of = |&noise: &f64| libm::log2(error_rate(distance * voltage, step, noise));
            noise.iter().map(of).collect()
        });
        Self { rates }
    }
    /// Returns the rate of a page programmed in `mode`, if a page of medium mode has `rate`.
    pub fn rate(&self, mode: ProgramMode, rate: f64) -> f64 {
        if mode == ProgramMode::Medium || rate <= 0.0 {
            return rate;
        }
        between(&self.rates[mode.index()], rate)
    }
}
