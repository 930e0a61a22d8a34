//! Errors that a read of a page finds, and the cost of correcting them.

use serde::{Deserialize, Serialize};
use wordline_kernel::Time;

use crate::brackets::ErrorDraws;
use crate::ecc::Code;
use crate::errors::{Age, Err, Errors, Rate};
use crate::mode::ProgramMode;
use crate::program_step::{Shift, SingleLevel};
use crate::variation::Variation;

/// Seconds per day.
const DAY: f64 = 86_400.0;

/// Read model of a device: the errors of its cells, and their correction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reader {
    /// Raw bit error rate of pages of medium cost.
    pub errors: Errors,
    /// Factor by which the model's rate is multiplied, for each page of a block; empty if all pages
    /// are alike.
    pub page_factors: Vec<f64>,
    /// Variation between blocks; `None` if they do not differ.
    pub variation: Option<Variation>,
    /// Rates of other modes; `None` if all pages use one mode.
    pub shift: Option<Shift>,
    /// Rates of single-level mode; `None` if no page is in it.
    pub single_level: Option<SingleLevel>,
    /// Error-correcting code.
    pub code: Code,
    /// Codewords per page. Count.
    pub words: u32,
    /// Program/erase cycles of every block before the run. Count.
    pub cycles: f64,
    /// Retention time, at the start of the run, of data older than the run. Days.
    pub retention_days: f64,
    /// Factor by which data ages faster than at the temperature of the model.
    pub acceleration: f64,
    /// Whether a read has the median number of errors instead of a random one.
    pub expected: bool,
    /// Reads of a block since its last erase after which its data is moved; 0 for never. Count.
    pub read_limit: u32,
    /// Age of data at which it is moved, at the temperature of the model; 0 for never. Days.
    pub refresh_days: f64,
}

/// Reason why the data of a block must be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Due {
    /// The block has been read `read_limit` times since its last erase.
    Reads,
    /// The data is too old.
    Age,
}

/// Read of a page, with the state of its block.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Read {
    /// Erases of the block by preconditioning and the run, in addition to [`Reader::cycles`].
    /// Count.
    pub erases: u32,
    /// Reads of the block by the array since its last erase. Excludes this read when its errors are
    /// computed, because a read does not disturb its own result, and includes it in
    /// [`Reader::due`].
    pub reads: u32,
    /// Retention time of the data; `None` for data older than the run.
    pub lain: Option<Time>,
    /// Time of the read.
    pub now: Time,
    /// Pages per block. Count.
    pub pages: u32,
    /// Number of the block.
    pub block: u32,
    /// Page in the block.
    pub page: u32,
    /// Whether the block is in single-level mode.
    pub is_single_level: bool,
}

/// Result of a read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Found {
    /// Errors of the codeword with the most errors. Count.
    pub errors: u32,
    /// Sense level that corrects the errors; `None` if they are uncorrectable.
    pub level: Option<usize>,
    /// Raw bit error rate.
    pub rate: Rate,
}

impl Reader {
    /// Returns the retention time of a block's data, at the temperature of the model. Days.
    #[inline]
    fn age_days(&self, read: &Read) -> f64 {
        let lain = read.lain.map_or_else(
            || self.retention_days + read.now.as_secs() / DAY,
            |lain| lain.as_secs() / DAY,
        );
        lain * self.acceleration
    }
    /// Returns `true` if data is moved after a number of reads or a retention time.
    #[inline]
    pub fn moves_data(&self) -> bool {
        self.read_limit > 0 || self.refresh_days > 0.0
    }
    /// Returns the reason why the data of a block must be moved, if any. Called after a read;
    /// `read.reads` includes it.
    pub fn due(&self, read: &Read) -> Option<Due> {
        if self.read_limit > 0 && read.reads >= self.read_limit {
            return Some(Due::Reads);
        }
        (self.refresh_days > 0.0 && self.age_days(read) >= self.refresh_days).then_some(Due::Age)
    }
    /// Returns the raw bit error rate of a page programmed in `mode`, or in single-level mode, for
    /// which page types do not matter.
    #[inline]
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
    /// Reads a page programmed in `mode`, starting at sense level `first`. Uses one random number
    /// from `draws`, unless the number of errors is the median.
    #[inline]
    pub fn read(
        &self,
        read: &Read,
        mode: ProgramMode,
        first: usize,
        draws: &mut ErrorDraws,
    ) -> Found {
        let rate = self.rate(read, mode);
        let errors = if self.expected {
            // This is the median number of errors of the worst codeword.
            draws.median(self.code.bits, rate.rate, self.words)
        } else {
            draws.most(self.code.bits, rate.rate, self.words)
        };
        Found {
            errors,
            level: self.code.corrects(first, errors),
            rate,
        }
    }
}
