//! Errors of a program step: what the step size of incremental step pulse programming does to the raw bit error rate.
//!
//! Programming in steps leaves the threshold voltage of a cell anywhere within one step above the verify level of its
//! state; noise is added to that. Two states lie `D` apart, the read reference midway between the ranges. A cell errs if
//! noise takes it across. Lengths are in medium steps.

use serde::{Deserialize, Serialize};

use crate::mode::ProgramMode;
use crate::normal;

/// Error rate of one boundary between states `distance` apart, programmed in steps of `step`, with Gaussian noise of
/// standard deviation `noise`: `(1/step)` times the integral of `Q(x / noise)` over `x` from `(distance - step) / 2` to
/// `(distance + step) / 2`.
pub fn error_rate(distance: f64, step: f64, noise: f64) -> f64 {
    if noise <= 0.0 {
        return 0.0;
    }
    let at = |x: f64| normal::tail_integral(x / noise);
    noise / step * (at((distance - step) / 2.0) - at(f64::midpoint(distance, step)))
}

/// The noise with which [`error_rate`] is `rate`: at most 64 steps, which is a rate of nearly one half.
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

/// The step and the range of voltages of a mode, in those of a medium write.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Program step.
    pub step: f64,
    /// Threshold voltage, and with it the distance of the states.
    pub voltage: f64,
}

impl Step {
    /// Of a medium write.
    pub const MEDIUM: Self = Self {
        step: 1.0,
        voltage: 1.0,
    };
}

/// The raw bit error rate of each mode, given that of a medium write of the same age: the noise that explains the one
/// gives the others. In steps of a twelfth of an octave, and between them on a straight line of logarithms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shift {
    /// By mode: logarithms of the rates at the grid's rates.
    rates: [Vec<f64>; 4],
}

/// The raw bit error rate of cells of several bits in single-level mode, given that of the same cells in their own: the noise that explains the
/// one gives the other. Of `2^b` states in a range of voltages two are left, and lie `2^b - 1` times as far apart; with Gaussian noise a
/// boundary is crossed with `Q(x)` there and `Q((2^b - 1) x)` here. Real tails are wider, and rates so small are a lower bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SingleLevel {
    /// Logarithms of the rates at the grid's rates.
    rates: Vec<f64>,
}

impl SingleLevel {
    /// Of cells of `bits`, whose neighbouring states differ in one of them (Gray code): `(2 - 2^(1 - b)) / b` bits of a cell's `b` err for each `Q`.
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
    /// The rate in single-level mode of a page that would have `rate` in the mode of the part.
    pub fn rate(&self, rate: f64) -> f64 {
        if rate <= 0.0 {
            return rate;
        }
        between(&self.rates, rate)
    }
}

/// The grid: rates from 2^-40 to one half.
const OCTAVES: f64 = 39.0;
const PER_OCTAVE: f64 = 12.0;
const LEAST: f64 = -40.0;

fn grid() -> impl Iterator<Item = f64> {
    let points = (OCTAVES * PER_OCTAVE) as u32;
    (0..=points).map(|point| libm::exp2(LEAST + f64::from(point) / PER_OCTAVE))
}

/// What belongs to `rate`, of logarithms at the grid's rates.
fn between(rates: &[f64], rate: f64) -> f64 {
    let place = ((libm::log2(rate) - LEAST) * PER_OCTAVE).clamp(0.0, OCTAVES * PER_OCTAVE);
    let below = (place as usize).min(rates.len() - 2);
    let share = place - below as f64;
    libm::exp2(rates[below] * (1.0 - share) + rates[below + 1] * share).min(0.5)
}

impl Shift {
    /// Of states `distance` medium steps apart, by mode.
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
    /// The rate of a page that was programmed in `mode`, where one of medium cost has `rate`.
    pub fn rate(&self, mode: ProgramMode, rate: f64) -> f64 {
        if mode == ProgramMode::Medium || rate <= 0.0 {
            return rate;
        }
        between(&self.rates[mode.index()], rate)
    }
}
