//! Interface between the buffer and the flash.

use serde::{Deserialize, Serialize};
use wordline_block::Op;
use wordline_cache::Entry;
use wordline_kernel::Time;

use crate::event::Event;

/// Number of a logical page, as the buffer addresses it on the flash.
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

/// Ratio of the highest die load to the mean die load above which dies count as unbalanced (Liu et
/// al., LCR, section II-A).
pub const UNBALANCED: u64 = 10;

/// Observation of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// A request accessed a page.
    Accessed {
        /// Read or write.
        op: Op,
        /// Whether the page was in the buffer. A read hits only if all its bytes were there.
        hit: bool,
    },
    /// A page was evicted.
    Evicted {
        /// Whether the page has data that must still be destaged before its memory is freed.
        dirty: bool,
        /// Whether the highest load of a die exceeded [`UNBALANCED`] times the mean load. `false`
        /// if the plan does not check the balance.
        unbalanced: bool,
    },
    /// Destaging of a page has started.
    Destaged {
        /// Whether only a part of the page is in memory, so that the flash supplies the rest.
        partial: bool,
    },
    /// A page was read ahead.
    ReadAhead,
    /// A page that was read ahead was read by the host for the first time.
    ReadAheadUsed,
    /// Destaging of a batch of pages has started.
    BatchSent {
        /// Pages in the batch.
        pages: u32,
    },
    /// Destaging of a page has started because the host was idle.
    FlushedIdly,
}

/// Outcome of a flash request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Success.
    Done,
    /// A page, or the unwritten rest of a partially written page, was uncorrectable. A partially
    /// written page is programmed nevertheless, but its rest is lost.
    Unread,
    /// A page could not be written or discarded.
    Unwritten,
}

/// Flash behind the buffer, with the clock and the probe that both share.
pub trait Backing {
    /// Schedules `event` at `at`, which must not be earlier than the current time.
    fn schedule(&mut self, at: Time, event: Event);
    /// Reports an observation of the buffer.
    fn observe(&mut self, now: Time, observation: Observation);
    /// Returns the die of a page, or `None` if the page is unmapped and its address does not
    /// determine the die.
    fn chip_of(&self, page: Page) -> Option<Chip>;
    /// Returns `true` if the address of every page determines its die.
    fn address_decides(&self) -> bool;
    /// Returns the time that the outstanding work of a die takes, including `reads` and `programs`
    /// to be submitted.
    fn load(&self, chip: Chip, reads: u32, programs: u32) -> Time;
    /// Returns `true` if a die is in GC.
    fn is_collecting(&self, chip: Chip) -> bool;
    /// Returns the sequence number of the latest write or TRIM of a page that the flash has stored;
    /// 0 if the run is not verified.
    fn holds(&self, page: Page) -> u32;
}

/// Byte range of a page that is destaged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Offset of the first byte in the page. Bytes.
    pub from: u32,
    /// Length. Bytes.
    pub bytes: u32,
    /// Bytes of the range that were written since the page was last destaged, in whole sectors.
    pub written: u32,
    /// Whether the range is the whole page because memory holds all of it. Otherwise the flash
    /// supplies the rest of the page, including gaps between written sectors.
    pub whole: bool,
}

/// Operation on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PageOp {
    /// Read the whole page.
    Fetch,
    /// Write a range of the page.
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
    /// For a TRIM: index of the request's part that waits for it.
    pub(crate) part: u32,
    /// Die whose load includes the request until it is submitted.
    pub(crate) chip: Option<Chip>,
}

impl PageRequest {
    /// Creates a request that discards a page on behalf of a part of a TRIM.
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
