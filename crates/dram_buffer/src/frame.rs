//! State of the pages known to the buffer: pages in memory, pages in transfer, and ghost entries of
//! the policy.

use std::collections::VecDeque;
use std::ops::Range;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use wordline_cache::{Entry, keyed};
use wordline_kernel::memory::Table;

use crate::backing::{Chip, Page, Span};
use crate::sectors::Sectors;

/// Part of a request that waits until a page is durable.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Sync {
    /// Index of the part.
    pub part: u32,
    /// Version of the page that must be on flash.
    pub version: u32,
}

/// Page known to the buffer. Several of its flags can be set at once.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools)]
pub(super) struct Frame {
    pub page: Page,
    /// Whether the replacement policy has an entry for the page, as a resident or as a ghost.
    pub known: bool,
    /// Whether the page is resident. Otherwise it is being evicted or discarded, or a ghost.
    pub resident: bool,
    /// Whether memory is allocated for the page.
    pub held: bool,
    /// Whether the page's memory is outside the buffer. The page was evicted before it got memory,
    /// or restored without room, and its data passes through.
    pub passing: bool,
    /// Whether the page waits for memory in the buffer.
    pub queued: bool,
    /// Whether the page is being read from flash.
    pub fetching: bool,
    /// Whether the page is being destaged.
    pub destaging: bool,
    /// Whether the data to destage is still leaving the memory, so that the page is not submitted
    /// to flash yet.
    pub departing: bool,
    /// Whether the page is to be read ahead.
    pub ahead: bool,
    /// Whether the page was read ahead and no request has accessed it since.
    pub unasked: bool,
    /// Whether the page is in the list of pages for the next batches.
    pub gathered: bool,
    /// Whether the page's memory belongs to the batch in progress.
    pub batched: bool,
    /// Whether the batch in progress waits until the page is on flash.
    pub awaited: bool,
    /// Whether the page is being destaged because the host was idle.
    pub idly: bool,
    /// Sectors whose whole content is in memory.
    pub valid: Sectors,
    /// Sectors with data that has yet to be destaged.
    pub dirty: Sectors,
    /// Sectors being destaged.
    pub sending: Sectors,
    /// Number of writes of the page, which is the version of its content.
    pub version: u32,
    /// Version being destaged. `span` is the byte range of the page that is sent.
    pub sent: u32,
    pub span: Span,
    /// Die whose load includes the page until its data is submitted.
    pub chip: Option<Chip>,
    /// Latest version that the flash failed to store unchanged; 0 if there is none.
    pub unkept: u32,
    /// Latest version that the flash holds, has failed to store, or need not store because it was
    /// discarded.
    pub durable: u32,
    /// Number of parts being transferred between host and memory.
    pub moving: u32,
    /// Parts that wait for memory or for the flash, in order of arrival.
    pub waiting: VecDeque<u32>,
    /// Number of writes among the waiting parts. The policy regards the page as dirty if there are
    /// any.
    pub writes: u32,
    pub syncs: Vec<Sync>,
}

impl Frame {
    /// Returns `true` if an operation in progress needs the page.
    pub fn is_busy(&self) -> bool {
        self.fetching
            || self.destaging
            || self.batched
            || self.moving > 0
            || !self.waiting.is_empty()
    }
    /// Returns `true` if the page is dirty and can be destaged immediately.
    pub fn can_depart(&self) -> bool {
        self.held && self.dirty != 0 && !self.destaging && !self.fetching
    }
    /// Returns `true` if the page is newer than its flash copy.
    pub fn is_ahead(&self) -> bool {
        self.dirty | self.sending != 0
    }
    /// Returns `true` if the page is in memory and newer than its flash copy.
    pub fn is_held_ahead(&self) -> bool {
        self.held && self.is_ahead()
    }
}

/// Frames, found by entry or by page.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Frames {
    all: Vec<Frame>,
    vacant: Vec<Entry>,
    /// Entries of all pages written since the last call of [`Frames::ahead`] or returned by it,
    /// each once. `is_written` states for each entry whether it is listed.
    written: Vec<Entry>,
    is_written: Vec<bool>,
    /// Entry of each known page. Takes memory for the pages known, not for all of the device.
    numbers: FxHashMap<Page, Entry>,
    /// Number of logical pages of the device.
    user_pages: u32,
}

impl Frames {
    pub fn new(user_pages: u32) -> Self {
        Self {
            all: Vec::new(),
            vacant: Vec::new(),
            written: Vec::new(),
            is_written: Vec::new(),
            numbers: FxHashMap::default(),
            user_pages,
        }
    }
    /// Returns the memory estimates of the index of `pages` known pages, and of their frames with
    /// the replacement policy's list node and index entry for each.
    pub fn memory(pages: u32) -> [Table; 2] {
        type Beside = (Frame, Entry, Entry, bool, [u32; 8]);
        let index = keyed::bytes::<(Page, Entry)>(pages.into());
        [
            Table::grown::<u8>("pages in the buffer", index),
            Table::grown::<Beside>("buffer", pages.into()),
        ]
    }
    /// Returns the number of logical pages.
    pub fn pages(&self) -> u64 {
        self.user_pages.into()
    }
    pub fn find(&self, page: Page) -> Option<Entry> {
        self.numbers.get(&page).copied()
    }
    /// Returns the entry of a page, creating one if needed.
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
        self.numbers.insert(page, entry);
        entry
    }
    /// Removes a page that is no longer needed. Its entry is reused.
    pub fn release(&mut self, entry: Entry) {
        let frame = std::mem::take(&mut self.all[entry.index()]);
        self.numbers.remove(&frame.page);
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
    /// Iterates over all known pages with their entries.
    pub fn numbered(&self) -> impl Iterator<Item = (Entry, &Frame)> {
        let mut known = vec![true; self.all.len()];
        for entry in &self.vacant {
            known[entry.index()] = false;
        }
        let numbered = (0..).map(Entry).zip(&self.all).zip(known);
        numbered.filter_map(|(numbered, known)| known.then_some(numbered))
    }
    /// Adds a page to the list of written pages.
    #[inline]
    pub fn write(&mut self, entry: Entry) {
        if !self.is_written[entry.index()] {
            self.is_written[entry.index()] = true;
            self.written.push(entry);
        }
    }
    /// Returns `true` if a page is in the list of written pages.
    pub fn is_written(&self, entry: Entry) -> bool {
        self.is_written[entry.index()]
    }
    /// Returns the pages in memory that are newer than their flash copies, in the order of their
    /// entries. Examines only pages written since the last call, or returned by it.
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
    /// Returns the number of pages of a range that are in memory and newer than their flash copies.
    pub fn count_ahead_of(&self, pages: &Range<u64>) -> usize {
        if pages.end - pages.start < self.all.len() as u64 {
            let pages = pages.start..pages.end.min(self.pages());
            let known = pages.filter_map(|page| self.find(Page(page as u32)));
            return known
                .filter(|&entry| self.get(entry).is_held_ahead())
                .count();
        }
        let all = self.all.iter().filter(|frame| frame.is_held_ahead());
        all.filter(|frame| pages.contains(&u64::from(frame.page.0)))
            .count()
    }
    /// Returns `false` only if no page is newer than its flash copy. May return `true` even if
    /// there is no such page.
    pub fn is_any_ahead(&self) -> bool {
        !self.written.is_empty()
    }
    /// Returns the number of pages in memory that are newer than their flash copies.
    pub fn count_ahead(&self) -> usize {
        let all = self.all.iter();
        all.filter(|frame| frame.is_held_ahead()).count()
    }
    /// Removes all frames. Returns those of pages in memory that were newer than their flash
    /// copies.
    pub fn clear(&mut self) -> Vec<Frame> {
        self.numbers.clear();
        self.vacant.clear();
        self.written.clear();
        self.is_written.clear();
        let mut ahead = std::mem::take(&mut self.all);
        ahead.retain(Frame::is_held_ahead);
        ahead
    }
}
