//! What the buffer asks of whatever keeps its pages, and what comes of it.

use serde::{Deserialize, Serialize};
use wordline_block::Op;
use wordline_cache::Entry;
use wordline_kernel::Time;

use crate::event::Event;

/// A page of what lies behind the buffer, by its number.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct Page(pub u32);

impl Page {
    /// As an index.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// One of the units behind the buffer that work side by side, such as a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chip(pub u32);

impl Chip {
    /// As an index.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The load balance rate above which chips are unbalanced (Liu et al., LCR, section II-A).
pub const UNBALANCED: u64 = 10;

/// Something that happened in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// A request has come to a page.
    Accessed {
        /// Read or write.
        op: Op,
        /// Whether the page was there; for a read, all bytes asked for.
        hit: bool,
    },
    /// A page leaves.
    Evicted {
        /// Whether it has to be written behind the buffer first.
        dirty: bool,
        /// Whether the chip with most to do has more than [`UNBALANCED`] times the mean load then; false if nobody watches.
        unbalanced: bool,
    },
    /// A page goes from the buffer to what lies behind it.
    Destaged {
        /// Whether it has to be completed there.
        partial: bool,
    },
    /// A page is read although nobody has asked for it.
    ReadAhead,
    /// Such a page is asked for, the first time, by a read.
    ReadAheadUsed,
    /// A batch of pages goes there together.
    BatchSent {
        /// How many.
        pages: u32,
    },
    /// A page goes there because the host asks for nothing.
    FlushedIdly,
}

/// How a request to what lies behind the buffer has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As it should.
    Done,
    /// A page could not be read, or not the rest of one that is written in part: that is written nevertheless, and lost there.
    Unread,
    /// A page could not be written or discarded.
    Unwritten,
}

/// What lies behind the buffer, with the clock and the audience of both.
pub trait Backing {
    /// Hands `event` back at `at`, which is not before the current time.
    fn schedule(&mut self, at: Time, event: Event);
    /// Hears what happens in the buffer.
    fn observe(&mut self, now: Time, observation: Observation);
    /// The chip that has a page; of a page that none has, the one that its address names, if addresses do.
    fn chip_of(&self, page: Page) -> Option<Chip>;
    /// Whether every page has a chip, by its address.
    fn address_decides(&self) -> bool;
    /// How long what a chip has to do takes, with so many reads and programs more.
    fn load(&self, chip: Chip, reads: u32, programs: u32) -> Time;
    /// Whether a chip is collecting garbage.
    fn is_collecting(&self, chip: Chip) -> bool;
    /// How many of the writes and trims of a page it holds, if the run is verified.
    fn holds(&self, page: Page) -> u32;
}

/// What of a page is destaged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The first byte.
    pub from: u32,
    /// Length.
    pub bytes: u32,
    /// Bytes of these that were written since the page was destaged last, in whole sectors; the others complete them.
    pub written: u32,
    /// Whether it is the whole page; otherwise the rest is completed from the flash, and the gaps
    /// between what was written.
    pub whole: bool,
}

/// What is asked for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PageOp {
    /// The whole page.
    Fetch,
    /// To hold what was written of it.
    Destage(Span),
    /// To forget it.
    Trim,
}

/// A request to what lies behind the buffer.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct PageRequest {
    pub(crate) entry: Entry,
    /// The page.
    pub page: Page,
    /// What is asked.
    pub op: PageOp,
    /// For a trim: the part of a request that waits for it.
    pub(crate) part: u32,
    /// Where it is counted until it is handed over.
    pub(crate) chip: Option<Chip>,
}

impl PageRequest {
    /// To forget a page, for a part of a request.
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
