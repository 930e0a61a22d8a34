//! What the buffer knows of pages: of those it holds, of those on their way, of those it remembers.

use std::collections::VecDeque;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use wordline_cache::Entry;
use wordline_kernel::memory::Table;

use crate::backing::{Chip, Page, Span};
use crate::sectors::Sectors;

/// Somebody who waits until the flash holds what a page holds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Sync {
    /// The part of a request.
    pub part: u32,
    /// Until the flash holds this version of the page.
    pub version: u32,
}

/// A page that the buffer knows. Its flags are independent of each other.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools)]
pub(super) struct Frame {
    pub page: Page,
    /// Whether the replacement policy remembers it.
    pub known: bool,
    /// Whether it is resident; otherwise it is about to leave, or a ghost.
    pub resident: bool,
    /// Whether it has memory.
    pub held: bool,
    /// Whether its memory is not the buffer's: it left before it came in, and passes through.
    pub passing: bool,
    /// Whether it waits for memory of the buffer.
    pub queued: bool,
    /// Whether it is being read from the flash.
    pub fetching: bool,
    /// Whether it is on its way to the flash.
    pub destaging: bool,
    /// Whether it has not left the memory on that way, so that the flash does not know of it yet.
    pub departing: bool,
    /// Whether it is to be read although nobody asks for it.
    pub ahead: bool,
    /// Whether nobody has asked for it since it was read ahead.
    pub unasked: bool,
    /// Whether it is among those that the next batches will have.
    pub gathered: bool,
    /// Whether its memory is that of the batch on its way.
    pub batched: bool,
    /// Whether that batch waits for it.
    pub awaited: bool,
    /// Whether it is on its way because the host asked for nothing.
    pub idly: bool,
    /// Sectors whose content is here, whole.
    pub valid: Sectors,
    /// Sectors that are newer here than in the flash, and not on their way.
    pub dirty: Sectors,
    /// Sectors on their way to the flash.
    pub sending: Sectors,
    /// Counts the writes of the page.
    pub version: u32,
    /// The version on its way, and what is sent of the page.
    pub sent: u32,
    pub span: Span,
    /// The chip that it is counted for until the flash has it.
    pub chip: Option<Chip>,
    /// The latest version of those that were sent and that the flash could not keep as they were; 0 if there is none.
    pub unkept: u32,
    /// The version that the flash holds, or has failed to.
    pub durable: u32,
    /// Parts that are being moved between the host and the memory.
    pub moving: u32,
    /// Parts that wait for memory or for the flash, in their order.
    pub waiting: VecDeque<u32>,
    /// Of these, writes: the page is as good as dirty.
    pub writes: u32,
    pub syncs: Vec<Sync>,
}

impl Frame {
    /// Whether something is under way with which the page has to stay.
    pub fn is_busy(&self) -> bool {
        self.fetching
            || self.destaging
            || self.batched
            || self.moving > 0
            || !self.waiting.is_empty()
    }
    /// Whether it can go to the flash now, and has to some time.
    pub fn can_depart(&self) -> bool {
        self.held && self.dirty != 0 && !self.destaging && !self.fetching
    }
    /// Whether the flash does not hold all that was written.
    pub fn is_ahead(&self) -> bool {
        self.dirty | self.sending != 0
    }
    /// The same of a page that is here.
    pub fn is_held_ahead(&self) -> bool {
        self.held && self.is_ahead()
    }
}

/// All of them, by number and by page.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Frames {
    all: Vec<Frame>,
    vacant: Vec<Entry>,
    /// Numbers of all pages that were written since they were looked at last, once each; and by
    /// number, whether it is among them.
    written: Vec<Entry>,
    is_written: Vec<bool>,
    /// By logical page: one more than its number, or 0.
    numbers: Vec<u32>,
}

impl Frames {
    pub fn new(user_pages: u32) -> Self {
        Self {
            all: Vec::new(),
            vacant: Vec::new(),
            written: Vec::new(),
            is_written: Vec::new(),
            numbers: vec![0; user_pages as usize],
        }
    }
    /// What the frames of `pages` pages take of memory, and what a replacement policy keeps beside:
    /// a node in a list and its place.
    pub fn memory(user_pages: u32, pages: u32) -> [Table; 2] {
        type Beside = (Frame, Entry, Entry, bool, [u32; 8]);
        [
            Table::zeroed::<u32>("pages in the buffer", user_pages.into(), 0.0),
            Table::grown::<Beside>("buffer", pages.into()),
        ]
    }
    /// Pages behind the buffer.
    pub fn pages(&self) -> u64 {
        self.numbers.len() as u64
    }
    pub fn find(&self, page: Page) -> Option<Entry> {
        self.numbers[page.index()].checked_sub(1).map(Entry)
    }
    /// The number of a page, which from now on it has.
    pub fn enter(&mut self, page: Page) -> Entry {
        if let Some(entry) = self.find(page) {
            return entry;
        }
        let entry = self.vacant.pop().unwrap_or_else(|| {
            self.all.push(Frame::default());
            self.is_written.push(false);
            Entry(self.all.len() as u32 - 1)
        });
        self.all[entry.index()].page = page;
        self.numbers[page.index()] = entry.0 + 1;
        entry
    }
    /// Forgets a page that nobody needs any more.
    pub fn release(&mut self, entry: Entry) {
        let frame = std::mem::take(&mut self.all[entry.index()]);
        self.numbers[frame.page.index()] = 0;
        self.vacant.push(entry);
    }
    #[inline]
    pub fn get(&self, entry: Entry) -> &Frame {
        &self.all[entry.index()]
    }
    #[inline]
    pub fn get_mut(&mut self, entry: Entry) -> &mut Frame {
        &mut self.all[entry.index()]
    }
    /// All that are known, with their numbers.
    pub fn numbered(&self) -> impl Iterator<Item = (Entry, &Frame)> {
        let mut known = vec![true; self.all.len()];
        for entry in &self.vacant {
            known[entry.index()] = false;
        }
        let numbered = (0..).map(Entry).zip(&self.all).zip(known);
        numbered.filter_map(|(numbered, known)| known.then_some(numbered))
    }
    /// A page is written.
    #[inline]
    pub fn write(&mut self, entry: Entry) {
        if !self.is_written[entry.index()] {
            self.is_written[entry.index()] = true;
            self.written.push(entry);
        }
    }
    /// Whether a page is among those that were written.
    pub fn is_written(&self, entry: Entry) -> bool {
        self.is_written[entry.index()]
    }
    /// Pages of which the flash does not hold all that was written, in the order of their numbers.
    /// Looks at those only that were written since it was asked last, or were among them then.
    pub fn ahead(&mut self) -> Vec<Entry> {
        let (all, is_written) = (&self.all, &mut self.is_written);
        self.written.retain(|entry| {
            let ahead = all[entry.index()].is_held_ahead();
            is_written[entry.index()] = ahead;
            ahead
        });
        self.written.sort_unstable();
        self.written.clone()
    }
    /// How many there are of these among some pages.
    pub fn count_ahead_of(&self, pages: &Range<u64>) -> usize {
        let all = self.all.iter().filter(|frame| frame.is_held_ahead());
        all.filter(|frame| pages.contains(&u64::from(frame.page.0)))
            .count()
    }
    /// Whether there may be any.
    pub fn is_any_ahead(&self) -> bool {
        !self.written.is_empty()
    }
    /// How many there are of these.
    pub fn count_ahead(&self) -> usize {
        let all = self.all.iter();
        all.filter(|frame| frame.is_held_ahead()).count()
    }
    /// Forgets everything; the pages whose newest content was here.
    pub fn clear(&mut self) -> Vec<Frame> {
        for frame in &self.all {
            self.numbers[frame.page.index()] = 0;
        }
        self.vacant.clear();
        self.written.clear();
        self.is_written.clear();
        let mut ahead = std::mem::take(&mut self.all);
        ahead.retain(Frame::is_held_ahead);
        ahead
    }
}
