//! Reads that wait for the map, and writes that have no place in the flash yet.

use std::collections::VecDeque;
use std::ops::Range;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use wordline_ftl::Lpn;
use wordline_ftl::program_mode::Characteristic;
use wordline_ftl::recovery::Label;
use wordline_kernel::Time;
use wordline_nand::Plane;

use crate::observation::PageParts;
use crate::shadow::Version;

/// A read that waits for its map entry.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct PageRead {
    pub owner: u32,
    pub page: Lpn,
    pub parts: PageParts,
    pub since: Time,
    /// For verification: the oldest version that it may return.
    pub oldest: Version,
    /// What its page is used for, where that is told.
    pub found: Characteristic,
}

/// A page that has been trimmed; its request waits for the flash.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct PageTrim {
    pub owner: u32,
    pub parts: PageParts,
    /// Since when it waits.
    pub since: Time,
}

impl PageTrim {
    /// Of a page that is trimmed now.
    pub fn of(now: Time, write: &PageWrite) -> Self {
        Self {
            owner: write.owner,
            parts: write.parts,
            since: now,
        }
    }
}

/// A page that is written again.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Rewrite {
    pub page: Lpn,
    /// The die whose queue it was in; [`NO_QUEUE`] if it was in none.
    pub queue: u32,
}

/// Of a page that is written again at once.
pub(super) const NO_QUEUE: u32 = u32::MAX;

impl Rewrite {
    /// Of a transaction with this tag and this owner.
    pub fn of(tag: u32, owner: u32) -> Self {
        Self {
            page: Lpn(tag),
            queue: owner,
        }
    }
}

/// A write of a page or a part of it that has no place yet, or a trim behind one.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct PageWrite {
    pub owner: u32,
    pub page: Lpn,
    pub whole: bool,
    /// Bytes of the page that are not the host's: read before, or padding.
    pub fill: u32,
    pub trim: bool,
    pub parts: PageParts,
    /// Since when it waits.
    pub since: Time,
    /// For verification.
    pub version: Version,
    pub base: u64,
    /// What its spare area is to say.
    pub label: Label,
    /// What its page is used for, where that is told.
    pub found: Characteristic,
    /// What the last decoding of the rest of its page took.
    pub decode: Time,
    /// Whether the rest of its page could not be read.
    pub lost: bool,
}

/// Writes that wait for room, by their places among the pending ones.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Stalled {
    /// By plane: those that wait for room in it.
    pub planes: Vec<VecDeque<u32>>,
    /// Those that wait for a block anywhere.
    pub anywhere: VecDeque<u32>,
}

impl Stalled {
    pub fn new(planes: usize) -> Self {
        Self {
            planes: vec![VecDeque::new(); planes],
            anywhere: VecDeque::new(),
        }
    }
    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &u32> {
        self.planes.iter().flatten().chain(&self.anywhere)
    }
    /// Whether one waits for room that a plane may give.
    pub fn awaits(&self, plane: Plane) -> bool {
        !self.planes[plane.index()].is_empty() || !self.anywhere.is_empty()
    }
}

/// A write that has no place yet, and the writes of its page that came later.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct PendingWrite {
    write: PageWrite,
    later: VecDeque<PageWrite>,
}

/// Writes that wait for their map entry, for the rest of their page, or for room.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct PendingWrites {
    writes: Vec<PendingWrite>,
    vacant: Vec<u32>,
    by_page: FxHashMap<Lpn, u32>,
}

impl PendingWrites {
    /// The first of some pages that a write is pending for, or their end.
    #[inline]
    pub fn first_of(&self, pages: Range<u32>) -> u32 {
        if self.by_page.is_empty() {
            return pages.end;
        }
        let mut waiting = pages.clone();
        let pending = waiting.find(|page| self.by_page.contains_key(&Lpn(*page)));
        pending.unwrap_or(pages.end)
    }
    /// Puts a write behind the one that is pending for its page; false if none is.
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
    /// Takes a write that cannot be placed yet, with those behind it; its place in the table.
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
    /// A write, by its place in the table.
    pub fn get_mut(&mut self, tag: u32) -> &mut PageWrite {
        &mut self.writes[tag as usize].write
    }
    /// Takes a write out of the table, with those behind it.
    pub fn take(&mut self, tag: u32) -> (PageWrite, VecDeque<PageWrite>) {
        let PendingWrite { write, later } = &mut self.writes[tag as usize];
        let (write, later) = (*write, std::mem::take(later));
        self.by_page.remove(&write.page);
        self.vacant.push(tag);
        (write, later)
    }
    /// Whether a write of a page is pending.
    pub fn has(&self, page: Lpn) -> bool {
        self.by_page.contains_key(&page)
    }
    /// Whether one of the writes at these places is of another request than `owner`.
    pub fn any_of_others<'a>(
        &self,
        owner: u32,
        mut waiting: impl Iterator<Item = &'a u32>,
    ) -> bool {
        waiting.any(|tag| self.writes[*tag as usize].write.owner != owner)
    }
}
