//! Interface between the buffer and the flash.

use serde::{Deserialize, Serialize};
use wordline_block::Op;
use wordline_cache::Entry;
use wordline_kernel::Time;

use crate::event::Event;

/// Number of a page of the flash, as addressed by the buffer.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct Page(pub u32);

impl Page {
    /// Returns the number as an index.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Unit of the flash that works independently of the others, such as a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chip(pub u32);

impl Chip {
    /// Returns the number as an index.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Load balance rate above which dies are unbalanced (Liu et al., LCR, section II-A).
pub const UNBALANCED: u64 = 10;

/// Observation of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// A request accessed a page.
    Accessed {
        /// Read or write.
        op: Op,
        /// Whether the page was in the buffer; for a read, all its bytes.
        hit: bool,
    },
    /// A page was evicted.
    Evicted {
        /// Whether it must be written to flash first.
        dirty: bool,
        /// Whether the highest load of a die exceeded [`UNBALANCED`] times the mean load; `false`
        /// unless the balance is watched.
        unbalanced: bool,
    },
    /// A page was submitted to flash.
    Destaged {
        /// Whether the flash must complete it.
        partial: bool,
    },
    /// A page was read ahead.
    ReadAhead,
    /// A page that was read ahead was read by the host for the first time.
    ReadAheadUsed,
    /// A batch of pages was submitted to flash.
    BatchSent {
        /// Pages in the batch.
        pages: u32,
    },
    /// A page was submitted to flash because the host was idle.
    FlushedIdly,
}

/// Outcome of a flash request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Success.
    Done,
    /// A page, or the rest of a partially written one, was uncorrectable. A partially written page
    /// is programmed nevertheless, and its rest is lost.
    Unread,
    /// A page could not be written or discarded.
    Unwritten,
}

/// Flash behind the buffer, with the clock and the probe of both.
pub trait Backing {
    /// Schedules `event` at `at`, which must not be earlier than the current time.
    fn schedule(&mut self, at: Time, event: Event);
    /// Reports an observation of the buffer.
    fn observe(&mut self, now: Time, observation: Observation);
    /// Returns the die of a page. For an unmapped page, the die that its address determines, if
    /// addresses do.
    fn chip_of(&self, page: Page) -> Option<Chip>;
    /// Returns `true` if the address of every page determines its die.
    fn address_decides(&self) -> bool;
    /// Returns the time that the outstanding work of a die takes, with `reads` and `programs` more.
    fn load(&self, chip: Chip, reads: u32, programs: u32) -> Time;
    /// Returns `true` if a die is in GC.
    fn is_collecting(&self, chip: Chip) -> bool;
    /// Returns the number of writes and TRIMs of a page that the flash holds, if the run is
    /// verified.
    fn holds(&self, page: Page) -> u32;
}

/// Part of a page that is destaged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Offset of the first byte.
    pub from: u32,
    /// Length. Bytes.
    pub bytes: u32,
    /// Bytes of these that were written since the page was last destaged, in whole sectors; the
    /// others complete them.
    pub written: u32,
    /// Whether it is the whole page. Otherwise the rest, and the gaps between written parts, are
    /// completed from flash.
    pub whole: bool,
}

/// Operation on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PageOp {
    /// Read the whole page.
    Fetch,
    /// Write the dirty part of the page.
    Destage(Span),
    /// Discard the page.
    Trim,
}

/// Request to the flash.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct PageRequest {
    pub(crate) entry: Entry,
    /// Page number.
    pub page: Page,
    /// Operation.
    pub op: PageOp,
    /// For a TRIM: the part of a request that waits for it.
    pub(crate) part: u32,
    /// Die for which it is counted until it is submitted.
    pub(crate) chip: Option<Chip>,
}

impl PageRequest {
    /// Creates a request to discard a page, for a part of a request.
    pub(crate) fn trim(entry: Entry, page: Page, part: u32) -> Self {
        Self {
            entry,
            page,
            op: PageOp::Trim,
            part,
            chip: None,
        }
    }
}
