//! Array time of a page, by its offset in the block.

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

use crate::cell::PageTypes;
use crate::timing::{Model, PerLevel, Timing};
use crate::transaction::Operation;
use crate::{Cell, Geometry};

/// Value of 1 in the units of [`Latencies::jitter`].
const WHOLE: f64 = (1_u32 << 20) as f64;

/// Array times of a part (Jung 2013, section 2.7.2): tR and tPROG of each page of a block, and
/// tBERS. They are positive if all times of the part are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latencies {
    read: Vec<Time>,
    program: Vec<Time>,
    /// Block erase time (tBERS).
    pub erase: Time,
    /// Maximum deviation of a time, as a share of it in units of 2^-20. If 0, no random number is
    /// drawn.
    pub jitter: u32,
    /// Whether array times may differ from those of the page: the part has jitter, or a die is
    /// slow.
    pub varies: bool,
}

impl Latencies {
    /// Builds the array times of a part under its latency model. `timing` must give one time, or
    /// one for each level of `cell`, and a block must have at least one page.
    pub fn new(geometry: &Geometry, timing: &Timing, cell: &Cell) -> Self {
        let pages = geometry.pages_per_block;
        let levels: Vec<u8> = (0..pages).map(|offset| cell.level(offset, pages)).collect();
        let of = |times, typical_ns| page_times(timing.model, &levels, times, typical_ns);
        let jitter = (timing.jitter_ratio * WHOLE).round() as u32;
        Self {
            read: of(&timing.read_ns, timing.typical_read_ns),
            program: of(&timing.program_ns, timing.typical_program_ns),
            erase: Time::from_ns(timing.erase_ns),
            jitter,
            varies: jitter > 0,
        }
    }
    /// Returns the array time of an operation on the page at `offset` in its block. The time of a
    /// move is that of its program.
    #[inline]
    pub fn of(&self, operation: Operation, offset: u32) -> Time {
        match operation {
            Operation::Read => self.read(offset),
            Operation::Program | Operation::Move => self.program(offset),
            Operation::Erase => self.erase,
        }
    }
    /// Returns tR of the page at `offset` in its block.
    #[inline]
    pub fn read(&self, offset: u32) -> Time {
        self.read[offset as usize]
    }
    /// Returns tPROG of the page at `offset` in its block.
    #[inline]
    pub fn program(&self, offset: u32) -> Time {
        self.program[offset as usize]
    }
    /// Adds random jitter to `time`: uniform over the picoseconds from `time - d` to `time + d`,
    /// where d is `jitter` times `time`. `draw` is 64 random bits.
    #[inline]
    pub fn jittered(&self, time: Time, draw: u64) -> Time {
        let deviation = (u128::from(time.ps()) * u128::from(self.jitter)) >> 20;
        let drawn = (u128::from(draw) * (2 * deviation + 1)) >> 64;
        Time::from_ps((u128::from(time.ps()) - deviation + drawn) as u64)
    }
}

/// Returns the time of each page of a block. `levels` contains the level of each page.
fn page_times(model: Model, levels: &[u8], times: &PerLevel, typical_ns: u64) -> Vec<Time> {
    let by_level = |&level: &u8| Time::from_ns(times.of(level));
    let varied: Vec<Time> = levels.iter().map(by_level).collect();
    let one = match model {
        Model::Variation => return varied,
        Model::Typical if typical_ns > 0 => Time::from_ns(typical_ns),
        Model::Typical => mean(&varied),
        Model::Worst => varied.iter().copied().max().unwrap_or_default(),
    };
    vec![one; levels.len()]
}

/// Returns the mean of the times, rounded to the nearest picosecond.
fn mean(times: &[Time]) -> Time {
    let count = times.len().max(1) as u128;
    let sum: u128 = times.iter().map(|time| u128::from(time.ps())).sum();
    Time::from_ps(((sum + count / 2) / count) as u64)
}

#[cfg(test)]
mod tests {
    use wordline_kernel::Rng;

    use super::*;
    use crate::cell::{mlc_alpha::MlcAlpha, slc::Slc};

    fn latencies(model: Model, typical_program_ns: u64) -> Latencies {
        let geometry = Geometry {
            pages_per_block: 128,
            ..Geometry::default()
        };
        let timing = Timing {
            read_ns: PerLevel::All(50_000),
            program_ns: PerLevel::Each(vec![250_000, 2_200_000]),
            model,
            typical_program_ns,
            ..Timing::default()
        };
        let cell = Cell::MlcAlpha(MlcAlpha { lambda: 2 });
        Latencies::new(&geometry, &timing, &cell)
    }

    #[test]
    fn program_time_depends_on_page_type() {
        let latencies = latencies(Model::Variation, 650_000);
        let us = [0, 1, 2, 3, 4, 125, 126, 127].map(|offset| latencies.program(offset).ns() / 1000);
        assert_eq!(us, [250, 250, 250, 2200, 250, 2200, 250, 250]);
        assert!((0..128).all(|offset| latencies.read(offset) == Time::from_us(50)));
    }

    #[test]
    fn typical_time_is_the_value_given_or_the_mean_of_a_block() {
        let given = latencies(Model::Typical, 650_000);
        assert!((0..128).all(|offset| given.program(offset) == Time::from_us(650)));
        // 62 of the odd pages are MSB: all except the first and the last.
        let mean = latencies(Model::Typical, 0);
        let ps = (66 * 250_000_000_u64 + 62 * 2_200_000_000) / 128;
        assert!((0..128).all(|offset| mean.program(offset) == Time::from_ps(ps)));
    }

    #[test]
    fn worst_time_is_that_of_the_slowest_page_type() {
        let worst = latencies(Model::Worst, 650_000);
        assert!((0..128).all(|offset| worst.program(offset) == Time::from_us(2200)));
    }

    #[test]
    fn latency_models_agree_if_page_types_do_not_differ() {
        let of = |model| {
            let timing = Timing {
                model,
                ..Timing::default()
            };
            Latencies::new(&Geometry::default(), &timing, &Cell::Slc(Slc {}))
        };
        assert_eq!(of(Model::Variation), of(Model::Typical));
        assert_eq!(of(Model::Variation), of(Model::Worst));
    }

    fn jittery(ratio: f64) -> Latencies {
        let timing = Timing {
            jitter_ratio: ratio,
            ..Timing::default()
        };
        Latencies::new(&Geometry::default(), &timing, &Cell::default())
    }

    #[test]
    fn jitter_covers_its_range_and_does_not_exceed_it() {
        let time = Time::from_us(1000);
        let latencies = jittery(0.25);
        assert_eq!(latencies.jittered(time, 0), Time::from_us(750));
        assert_eq!(latencies.jittered(time, 1 << 63), time);
        assert_eq!(latencies.jittered(time, u64::MAX), Time::from_us(1250));
        assert_eq!(jittery(0.0).jittered(time, u64::MAX), time);
    }

    #[test]
    fn jitter_is_uniform() {
        // The draws have mean t and variance (2 d)^2 / 12: the mean of 10^5 is within 5 standard
        // errors.
        let (count, t, d) = (100_000_u32, 1e9, 1e8);
        let latencies = jittery(0.1);
        let mut draws = Rng::new(1, "jitter");
        let drawn = (0..count).map(|_| latencies.jittered(Time::from_ms(1), draws.bits()));
        let offsets: Vec<f64> = drawn.map(|time| time.ps() as f64 - t).collect();
        let mean = offsets.iter().sum::<f64>() / f64::from(count);
        let variance = offsets.iter().map(|x| x * x).sum::<f64>() / f64::from(count);
        let expected = d * d / 3.0;
        assert!(
            mean.abs() < 5.0 * (expected / f64::from(count)).sqrt(),
            "{mean}"
        );
        assert!((variance / expected - 1.0).abs() < 0.02, "{variance}");
    }
}
