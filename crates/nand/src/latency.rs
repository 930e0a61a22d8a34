//! How long the array works on a page, by the place of the page in its block.

use wordline_kernel::Time;

use crate::cell::PageTypes;
use crate::timing::{Model, PerLevel, Timing};
use crate::{Cell, Geometry};

/// One in the units of [`Latencies::jitter`].
const WHOLE: f64 = (1_u32 << 20) as f64;

/// Times of the array of one part (Jung 2013, section 2.7.2): tR and tPROG of every page of a block,
/// and tBERS. No time is zero if none of the part's is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Latencies {
    read: Vec<Time>,
    program: Vec<Time>,
    /// Block erase.
    pub erase: Time,
    /// Largest deviation of a time, in parts of 2^20. If it is zero, nothing need be drawn.
    pub jitter: u32,
}

impl Latencies {
    /// The times of a part under its latency model. `timing` gives one time or one for each level of
    /// `cell`, and a block has at least one page.
    pub fn new(geometry: &Geometry, timing: &Timing, cell: &Cell) -> Self {
        let pages = geometry.pages_per_block;
        let levels: Vec<u8> = (0..pages).map(|offset| cell.level(offset, pages)).collect();
        let of = |times, typical_ns| page_times(timing.model, &levels, times, typical_ns);
        Self {
            read: of(&timing.read_ns, timing.typical_read_ns),
            program: of(&timing.program_ns, timing.typical_program_ns),
            erase: Time::from_ns(timing.erase_ns),
            jitter: (timing.jitter_ratio * WHOLE).round() as u32,
        }
    }
    /// tR of the page at `offset` in its block.
    #[inline]
    pub fn read(&self, offset: u32) -> Time {
        self.read[offset as usize]
    }
    /// tPROG of the page at `offset` in its block.
    #[inline]
    pub fn program(&self, offset: u32) -> Time {
        self.program[offset as usize]
    }
    /// `time` with its random deviation: uniform over the picoseconds from `time - d` to `time + d`,
    /// where d is the share `jitter` of it. `draw` is 64 random bits.
    #[inline]
    pub fn jittered(&self, time: Time, draw: u64) -> Time {
        let deviation = (u128::from(time.ps()) * u128::from(self.jitter)) >> 20;
        let drawn = (u128::from(draw) * (2 * deviation + 1)) >> 64;
        Time::from_ps((u128::from(time.ps()) - deviation + drawn) as u64)
    }
}

/// The time of every page of a block with these levels.
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

/// The mean, rounded to the nearest picosecond.
fn mean(times: &[Time]) -> Time {
    let count = times.len().max(1) as u128;
    let sum: u128 = times.iter().map(|time| u128::from(time.ps())).sum();
    Time::from_ps(((sum + count / 2) / count) as u64)
}
