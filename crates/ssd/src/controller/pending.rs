//! Reads that wait for the map, and writes that have no page yet.

use std::collections::VecDeque;
use std::ops::Range;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use wordline_content_oracle::Version;
use wordline_ftl::Lpn;
use wordline_ftl::program_mode::Characteristic;
use wordline_ftl::recovery::Label;
use wordline_kernel::Time;
use wordline_nand::Plane;

use crate::observation::PageComponents;

/// A read that waits for its map entry.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct PageRead {
    pub owner: u32,
    pub page: Lpn,
    pub parts: PageComponents,
    pub since: Time,
    /// Oldest version that the read may return, for verification.
    pub oldest: Version,
    /// Access characteristic of the page, if the regulation uses one.
    pub found: Characteristic,
}

/// A trimmed page whose request waits for flash.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct PageTrim {
    pub owner: u32,
    pub parts: PageComponents,
    /// Start of the wait.
    pub since: Time,
}

impl PageTrim {
    /// Creates the wait of a page that is trimmed now.
    pub fn of(now: Time, write: &PageWrite) -> Self {
        Self {
            owner: write.owner,
            parts: write.parts,
            since: now,
        }
    }
}

/// A page to rewrite.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Rewrite {
    pub page: Lpn,
    /// Die whose queue held the page; [`NO_QUEUE`] if none did.
    pub queue: u32,
}

/// Queue of a page that is rewritten at once.
pub(super) const NO_QUEUE: u32 = u32::MAX;

impl Rewrite {
    /// Creates the rewrite of a transaction with this tag and owner.
    pub fn of(tag: u32, owner: u32) -> Self {
        Self {
            page: Lpn(tag),
            queue: owner,
        }
    }
}

/// A write of a whole or partial page, or a TRIM of a page.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct PageWrite {
    pub owner: u32,
    pub page: Lpn,
    pub whole: bool,
    /// Bytes of the page that the write does not cover: read beforehand, or padding.
    pub fill: u32,
    pub trim: bool,
    pub parts: PageComponents,
    /// Start of the wait.
    pub since: Time,
    /// Version of the write, for verification.
    pub version: Version,
    pub base: u64,
    /// Label that the spare area records.
    pub label: Label,
    /// Access characteristic of the page, if the regulation uses one.
    pub found: Characteristic,
    /// Duration of the last decoding of the read that completes the page.
    pub decode: Time,
    /// Whether the bytes of the page that the write does not cover could not be read.
    pub lost: bool,
}

/// Writes that wait for space, by their index among the pending writes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Stalled {
    /// Writes that wait for space in a plane, by plane.
    pub planes: Vec<VecDeque<u32>>,
    /// Writes that wait for a block on any plane.
    pub anywhere: VecDeque<u32>,
}

impl Stalled {
    pub fn new(planes: usize) -> Self {
        Self {
            planes: vec![VecDeque::new(); planes],
            anywhere: VecDeque::new(),
        }
    }
    /// Iterates over all writes that wait for space, by their index among the pending writes.
    pub fn all(&self) -> impl Iterator<Item = &u32> {
        self.planes.iter().flatten().chain(&self.anywhere)
    }
    /// Returns `true` if a write waits for space that the plane may provide.
    pub fn awaits(&self, plane: Plane) -> bool {
        !self.planes[plane.index()].is_empty() || !self.anywhere.is_empty()
    }
}

/// A pending write, and the later writes of its page.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct PendingWrite {
    write: PageWrite,
    later: VecDeque<PageWrite>,
}

/// Writes without a physical page, and TRIMs: they wait for their map entry, for the rest of their
/// page, for space, or for the scheduler.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct PendingWrites {
    writes: Vec<PendingWrite>,
    vacant: Vec<u32>,
    by_page: FxHashMap<Lpn, u32>,
}

impl PendingWrites {
    /// Returns the first page in a range with a pending write, or the end of the range.
    #[inline]
    pub fn first_of(&self, pages: Range<u32>) -> u32 {
        if self.by_page.is_empty() {
            return pages.end;
        }
        let mut waiting = pages.clone();
        let pending = waiting.find(|page| self.by_page.contains_key(&Lpn(*page)));
        pending.unwrap_or(pages.end)
    }
    /// Queues a write behind the pending one of its page; returns `false` if there is none.
    #[inline]
    pub fn queue_behind(&mut self, write: &PageWrite) -> bool {
        if self.by_page.is_empty() {
            return false;
        }
        let Some(&tag) = self.by_page.get(&write.page) else {
            return false;
        };
        self.writes[tag as usize].later.push_back(*write);
        true
    }
    /// Adds a write that cannot be allocated yet, with those behind it; returns its index.
    #[cold]
    pub fn add(&mut self, write: &PageWrite, later: &mut VecDeque<PageWrite>) -> u32 {
        let page = write.page;
        let pending = PendingWrite {
            write: *write,
            later: std::mem::take(later),
        };
        let tag = if let Some(tag) = self.vacant.pop() {
            self.writes[tag as usize] = pending;
            tag
        } else {
            self.writes.push(pending);
            self.writes.len() as u32 - 1
        };
        self.by_page.insert(page, tag);
        tag
    }
    /// Returns the pending write with the index `tag`.
    pub fn get_mut(&mut self, tag: u32) -> &mut PageWrite {
        &mut self.writes[tag as usize].write
    }
    /// Removes a write, with those behind it.
    pub fn take(&mut self, tag: u32) -> (PageWrite, VecDeque<PageWrite>) {
        let PendingWrite { write, later } = &mut self.writes[tag as usize];
        let (write, later) = (*write, std::mem::take(later));
        self.by_page.remove(&write.page);
        self.vacant.push(tag);
        (write, later)
    }
    /// Returns `true` if a write of a page is pending.
    pub fn has(&self, page: Lpn) -> bool {
        self.by_page.contains_key(&page)
    }
    /// Returns `true` if one of the writes `waiting` belongs to a request other than `owner`.
    pub fn any_of_others<'a>(
        &self,
        owner: u32,
        mut waiting: impl Iterator<Item = &'a u32>,
    ) -> bool {
        waiting.any(|tag| self.writes[*tag as usize].write.owner != owner)
    }
}
