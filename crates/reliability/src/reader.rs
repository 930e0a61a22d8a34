//! What a read of a page finds, and what it takes to correct it.

use serde::{Deserialize, Serialize};
use wordline_kernel::{Rng, Time};

use crate::binomial::{most_errors, quantile};
use crate::ecc::Code;
use crate::errors::{Age, Err, Errors, Rate};
use crate::mode::ProgramMode;
use crate::program_step::{Shift, SingleLevel};
use crate::variation::Variation;

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// Reads of one device: how its cells err, and what corrects them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reader {
    /// The raw bit error rate of pages of medium cost.
    pub errors: Errors,
    /// By page of a block: its rate over that of the model; empty if all are alike.
    pub page_factors: Vec<f64>,
    /// How blocks differ; none if they do not.
    pub variation: Option<Variation>,
    /// Those of other modes; none where all pages are programmed alike.
    pub shift: Option<Shift>,
    /// Those of single-level mode; none where no page is in it.
    pub single_level: Option<SingleLevel>,
    /// What corrects errors.
    pub code: Code,
    /// Codewords of a page.
    pub words: u32,
    /// Program/erase cycles of every block before the run.
    pub cycles: f64,
    /// How long data had lain before the run that was there. Days.
    pub retention_days: f64,
    /// How much faster data ages than at the temperature of the model.
    pub acceleration: f64,
    /// Whether the errors of a read are those expected, instead of drawn.
    pub expected: bool,
    /// Reads of a block since its erase, the last one included, with which its data moves; 0 for never.
    pub read_limit: u32,
    /// Age of data at which it moves, at the temperature of the model; 0 for never. Days.
    pub refresh_days: f64,
}

/// Why the data of a block moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Due {
    /// It was read too often since its erase.
    Reads,
    /// Its data is too old.
    Age,
}

/// A block that is read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Read {
    /// Erases during and before the run.
    pub erases: u32,
    /// Reads that the array has done since the last erase: without this one when its errors are asked for, as it cannot disturb what
    /// it finds, and with it when [`Reader::due`] is asked.
    pub reads: u32,
    /// How long its data has lain; none of data that was there before the run.
    pub lain: Option<Time>,
    /// The time of the read.
    pub now: Time,
    /// Pages of a block.
    pub pages: u32,
    /// Which block it is.
    pub block: u32,
    /// Which page of it is read.
    pub page: u32,
    /// Whether it is in single-level mode.
    pub is_single_level: bool,
}

/// What a read finds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Found {
    /// Errors of the codeword that has most.
    pub errors: u32,
    /// The level of the ladder that corrects them; none if they cannot be corrected.
    pub level: Option<usize>,
    /// The raw bit error rate.
    pub rate: Rate,
}

impl Reader {
    /// How long the data of a block has lain, at the temperature of the model. Days.
    fn age_days(&self, read: &Read) -> f64 {
        let lain = read.lain.map_or_else(
            || self.retention_days + read.now.as_secs() / DAY,
            |lain| lain.as_secs() / DAY,
        );
        lain * self.acceleration
    }
    /// Whether the data of a block is to move, and why. Asked when the array has done a read, which is in the count already.
    pub fn due(&self, read: &Read) -> Option<Due> {
        if self.read_limit > 0 && read.reads >= self.read_limit {
            return Some(Due::Reads);
        }
        (self.refresh_days > 0.0 && self.age_days(read) >= self.refresh_days).then_some(Due::Age)
    }
    /// The raw bit error rate of a page that was programmed in `mode`, or in single-level mode, which has no types of pages.
    pub fn rate(&self, read: &Read, mode: ProgramMode) -> Rate {
        let age = Age {
            cycles: self.cycles + f64::from(read.erases),
            retention_days: self.age_days(read),
            reads: f64::from(read.reads),
            pages: read.pages,
        };
        let mut rate = self.errors.rate(&age);
        if let Some(factor) = self.page_factors.get(read.page as usize)
            && !read.is_single_level
        {
            rate.rate *= factor;
        }
        if let Some(variation) = &self.variation {
            rate.rate *= variation.factor(read.block);
        }
        rate.rate = rate.rate.min(0.5);
        if let Some(shift) = &self.shift {
            rate.rate = shift.rate(mode, rate.rate);
        }
        if let Some(single_level) = &self.single_level
            && read.is_single_level
        {
            rate.rate = single_level.rate(rate.rate);
        }
        rate
    }
    /// A read of a page that was programmed in `mode`, which begins with the level `first`. Of a number of errors `draws` is
    /// asked once, unless it is the expected one.
    pub fn read(&self, read: &Read, mode: ProgramMode, first: usize, draws: &mut Rng) -> Found {
        let rate = self.rate(read, mode);
        let errors = if self.expected {
            // The median of the worst codeword.
            let above = -libm::expm1(-libm::log(2.0) / f64::from(self.words.max(1)));
            quantile(self.code.bits, rate.rate, above)
        } else {
            most_errors(self.code.bits, rate.rate, self.words, draws.unit())
        };
        Found {
            errors,
            level: self.code.corrects(first, errors),
            rate,
        }
    }
}
