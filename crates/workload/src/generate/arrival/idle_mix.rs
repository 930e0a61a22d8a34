//! Arrivals with no, a short or a long idle period before them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_kernel::slot::Cited;
use wordline_kernel::{Rng, Time};

use crate::WorkloadError;
use crate::generate::fault;

const PS_PER_US: f64 = 1e6;
const PS_PER_S: f64 = 1e12;

/// Each gap between two requests is of one of three kinds, which are drawn independently: none,
/// short or long. Short gaps are log-uniform between two bounds; long gaps are exponential above a
/// threshold. The first request arrives at time 0.
///
/// The default shares come from the traces of the file server (section 7.6), and the default bounds
/// of short gaps from measurements at a disk (section 7.4.1). The length of the long gaps is not
/// published; their default mean is a choice of Wordline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct IdleMix {
    /// Share of requests that arrive at the same time as the previous one.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub back_to_back_ratio: f64,
    /// Share of requests that arrive after a long gap. The remaining requests arrive after a short
    /// gap.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub long_ratio: f64,
    /// Shortest short gap. Microseconds.
    #[schemars(range(min = 1e-6, max = 1e13))]
    pub short_from_us: f64,
    /// Longest short gap. Microseconds.
    #[schemars(range(min = 1e-6, max = 1e13))]
    pub short_until_us: f64,
    /// Threshold between short and long gaps: all long gaps are longer, no short gap is. Seconds.
    #[schemars(range(min = 1e-6, max = 1e7))]
    pub long_from_s: f64,
    /// Mean of the long gaps; not below the threshold. Seconds.
    #[schemars(range(min = 1e-6, max = 1e7))]
    pub long_mean_s: f64,
}

impl Default for IdleMix {
    fn default() -> Self {
        Self {
            back_to_back_ratio: 0.359,
            long_ratio: 0.346,
            short_from_us: 1.8,
            short_until_us: 15_200.0,
            long_from_s: 1.0,
            long_mean_s: 2.0,
        }
    }
}

impl Cited for IdleMix {
    const PAPER: &'static str = "M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania State University, 2013, sections 7.4.1 and 7.6";
}

impl IdleMix {
    #[allow(clippy::unused_self)] // signature shared by all arrival processes
    pub(super) fn queue_depth(&self) -> Option<u32> {
        None
    }

    fn check(&self) -> Result<(), WorkloadError> {
        const ROUNDING: f64 = 1e-9;
        let threshold_us = self.long_from_s * PS_PER_S / PS_PER_US;
        for (key, value, most, other) in [
            (
                "short_until_us",
                self.short_until_us,
                threshold_us,
                "long_from_s",
            ),
            (
                "short_from_us",
                self.short_from_us,
                self.short_until_us,
                "short_until_us",
            ),
            (
                "long_from_s",
                self.long_from_s,
                self.long_mean_s,
                "long_mean_s",
            ),
        ] {
            if value > most {
                return fault(
                    &format!("arrival.idle-mix.{key}"),
                    format!("{value} exceeds {other}, which is {most} in the unit of {key}"),
                    format!("lower {key}, or raise workload.arrival.idle-mix.{other}"),
                );
            }
        }
        let sum = self.back_to_back_ratio + self.long_ratio;
        if sum > 1.0 + ROUNDING {
            return fault(
                "arrival.idle-mix.long_ratio",
                format!("long_ratio and back_to_back_ratio add up to {sum}, which is above 1"),
                "lower one of the ratios",
            );
        }
        Ok(())
    }
}

#[derive(Clone, Debug)]
pub(crate) struct State {
    back_to_back: f64,
    long: f64,
    /// Logarithms of the bounds of short gaps, which are in picoseconds.
    short: (f64, f64),
    threshold: Time,
    /// Mean of the part of a long gap above the threshold. Picoseconds.
    above_ps: f64,
    now: Option<Time>,
}

impl State {
    pub(super) fn new(parameters: &IdleMix) -> Result<Self, WorkloadError> {
        parameters.check()?;
        let log = |us: f64| libm::log(us * PS_PER_US);
        Ok(Self {
            back_to_back: parameters.back_to_back_ratio,
            long: parameters.long_ratio,
            short: (
                log(parameters.short_from_us),
                log(parameters.short_until_us),
            ),
            threshold: ps(parameters.long_from_s * PS_PER_S),
            above_ps: (parameters.long_mean_s - parameters.long_from_s) * PS_PER_S,
            now: None,
        })
    }

    pub(super) fn next(&mut self, random: &mut Rng) -> Option<Time> {
        let next = match self.now {
            None => Time::ZERO,
            Some(now) => now.checked_add(self.gap(random)?)?,
        };
        self.now = Some(next);
        Some(next)
    }

    /// Draws the next gap; `None` if it is beyond the range of the clock.
    fn gap(&self, random: &mut Rng) -> Option<Time> {
        let kind = random.unit();
        if kind < self.back_to_back {
            return Some(Time::ZERO);
        }
        if kind < self.back_to_back + self.long {
            let above = ps(random.exponential(self.above_ps)).max(Time::from_ps(1));
            return self.threshold.checked_add(above);
        }
        let (from, until) = self.short;
        // libm replaces the platform's functions, so that all machines give the same arrivals.
        let gap = libm::exp(from + random.unit() * (until - from));
        Some(ps(gap).clamp(Time::from_ps(1), self.threshold))
    }
}

fn ps(value: f64) -> Time {
    Time::from_ps(value.round() as u64)
}
