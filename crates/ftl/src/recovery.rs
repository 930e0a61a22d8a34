//! State that survives a power cut: the flash, with the records in the spare areas of its pages.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use wordline_kernel::Digest;
use wordline_kernel::memory::{Fill, Table};
use wordline_nand::{Array, Block, Layout, Ppn};

use crate::lpn::Lpn;
use crate::summary::{Summaries, SummaryPage};

/// Owner of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PageOwner {
    /// Page of the host.
    Host(Lpn),
    /// Metadata page of the mapping, by its label.
    Metadata(u32),
}

/// Metadata label of the pages of block summaries.
pub const SUMMARY: u32 = u32::MAX / 2;

/// Extra record of a page's owner in the spare area. A copy of the page has the same label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// Meaning of the page, defined by its owner; 0 for none.
    pub what: u64,
    /// Version of the page, counted by the owner.
    pub sequence: u64,
}

impl Label {
    /// Value for a page without a label.
    pub const NONE: Self = Self {
        what: 0,
        sequence: 0,
    };
}

/// Record in the spare area of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpareRecord {
    /// Owner of the page.
    pub owner: PageOwner,
    /// Sequence number of the write, counted over the device. Of two versions of a page, the one
    /// with the greater number is newer. A copy keeps the number.
    pub sequence: u64,
    /// Placement number of the page, counted over the device and including copies. Of two copies of
    /// one version, the one with the greater number was made later.
    pub order: u64,
    /// Label set by the owner.
    pub label: Label,
}

/// Spare areas of all pages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Spare {
    /// Owner of each page: 0 for none, or 1 + the logical page. Metadata labels count down from the
    /// maximum.
    #[serde(with = "wordline_kernel::dense")]
    owners: Vec<u32>,
    #[serde(with = "wordline_kernel::dense")]
    sequences: Vec<u64>,
    #[serde(with = "wordline_kernel::dense")]
    orders: Vec<u64>,
    /// Empty until a page has a label.
    #[serde(with = "wordline_kernel::dense")]
    labels: Vec<u64>,
    #[serde(with = "wordline_kernel::dense")]
    label_sequences: Vec<u64>,
}

impl Spare {
    /// Creates the spare areas of an erased array.
    pub fn new(layout: &Layout) -> Self {
        let pages = layout.pages() as usize;
        Self {
            owners: vec![0; pages],
            sequences: vec![0; pages],
            orders: vec![0; pages],
            labels: Vec::new(),
            label_sequences: Vec::new(),
        }
    }
    /// Returns the memory estimate of the spare areas, without labels, on a device filled to
    /// `fill`.
    pub fn memory(layout: &Layout, fill: Fill) -> [Table; 3] {
        let pages = u64::from(layout.pages());
        [
            Table::zeroed::<u32>("owners in spare areas", pages, fill.physical),
            Table::zeroed::<u64>("versions in spare areas", pages, fill.physical),
            Table::zeroed::<u64>("order of copies in spare areas", pages, fill.physical),
        ]
    }
    /// Writes the record of a page that has been programmed.
    pub fn write(&mut self, place: Ppn, tag: SpareRecord) {
        self.owners[place.index()] = match tag.owner {
            PageOwner::Host(page) => page.0 + 1,
            PageOwner::Metadata(label) => u32::MAX - label,
        };
        self.sequences[place.index()] = tag.sequence;
        self.orders[place.index()] = tag.order;
        if self.labels.is_empty() && tag.label != Label::NONE {
            self.labels = vec![0; self.owners.len()];
            self.label_sequences = vec![0; self.owners.len()];
        }
        if let Some(label) = self.labels.get_mut(place.index()) {
            *label = tag.label.what;
            self.label_sequences[place.index()] = tag.label.sequence;
        }
    }
    /// Clears the record of a page that is not readable, because it was never programmed, its block
    /// was erased, or the power failed during its program.
    pub fn clear(&mut self, place: Ppn) {
        self.owners[place.index()] = 0;
    }
    /// Returns a digest of the records of `pages`, as a summary lists them. An unreadable page is
    /// listed as unreadable.
    fn digest(&self, pages: Range<u32>) -> u64 {
        let mut digest = Digest::default();
        for place in pages.map(|page| page as usize) {
            let owner = self.owners[place];
            digest.mix(owner.into());
            if owner == 0 {
                continue;
            }
            let labels = [&self.labels, &self.label_sequences];
            let labels = labels.map(|of| of.get(place).copied().unwrap_or_default());
            for word in [self.sequences[place], self.orders[place]]
                .into_iter()
                .chain(labels)
            {
                digest.mix(word);
            }
        }
        digest.value()
    }
    fn read(&self, place: Ppn, user_pages: u32) -> Option<SpareRecord> {
        let owner = match self.owners[place.index()] {
            0 => return None,
            owner if owner <= user_pages => PageOwner::Host(Lpn(owner - 1)),
            owner => PageOwner::Metadata(u32::MAX - owner),
        };
        Some(SpareRecord {
            owner,
            sequence: self.sequences[place.index()],
            order: self.orders[place.index()],
            label: self
                .labels
                .get(place.index())
                .map_or(Label::NONE, |what| Label {
                    what: *what,
                    sequence: self.label_sequences[place.index()],
                }),
        })
    }
}

/// Observer of page programs: host pages, copies and metadata.
pub trait ProgramObserver {
    /// Whether the observer uses the reports; if `false`, they may be left out.
    const LISTENS: bool = true;
    /// Reports the program of a host page.
    fn host(&mut self, place: Ppn, page: Lpn);
    /// Reports the program of a copy of a page.
    fn copy(&mut self, from: Ppn, to: Ppn);
    /// Reports the program of a metadata page.
    fn metadata(&mut self, place: Ppn, label: u32);
}

impl<N: ProgramObserver> ProgramObserver for &mut N {
    const LISTENS: bool = N::LISTENS;
    fn host(&mut self, place: Ppn, page: Lpn) {
        N::host(self, place, page);
    }
    fn copy(&mut self, from: Ppn, to: Ppn) {
        N::copy(self, from, to);
    }
    fn metadata(&mut self, place: Ppn, label: u32) {
        N::metadata(self, place, label);
    }
}

impl ProgramObserver for () {
    const LISTENS: bool = false;
    #[inline]
    fn host(&mut self, _place: Ppn, _page: Lpn) {}
    #[inline]
    fn copy(&mut self, _from: Ppn, _to: Ppn) {}
    #[inline]
    fn metadata(&mut self, _place: Ppn, _label: u32) {}
}

/// Spare areas of a device, and the counters for the next records.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SpareWriter {
    /// Records of programmed pages.
    pub spare: Spare,
    user_pages: u32,
    sequence: u64,
    order: u64,
}

impl SpareWriter {
    /// Creates the spare areas of an erased array with `user_pages` logical pages of the host.
    pub fn new(layout: &Layout, user_pages: u32) -> Self {
        Self {
            spare: Spare::new(layout),
            user_pages,
            sequence: 0,
            order: 0,
        }
    }
    fn next(&mut self, owner: PageOwner, label: Label) -> SpareRecord {
        self.sequence += 1;
        self.order += 1;
        SpareRecord {
            owner,
            sequence: self.sequence,
            order: self.order,
            label,
        }
    }
    /// Returns the record of a host page that is being placed.
    pub fn of_host(&mut self, page: Lpn, label: Label) -> SpareRecord {
        self.next(PageOwner::Host(page), label)
    }
    /// Returns the record of a metadata page that is being placed, with its number and its label.
    pub fn of_own(&mut self, number: u32, label: Label) -> SpareRecord {
        self.next(PageOwner::Metadata(number), label)
    }
    /// Returns the record of a block summary page that has just been programmed. The sequence
    /// number is a digest of the records that the page lists.
    pub fn of_summary(&mut self, page: &SummaryPage) -> SpareRecord {
        self.order += 1;
        SpareRecord {
            owner: PageOwner::Metadata(SUMMARY),
            sequence: self.spare.digest(page.of.clone()),
            order: self.order,
            label: Label::NONE,
        }
    }
    /// Returns the record of a copy that is being placed, or `None` if its source, which has been
    /// programmed, is not readable.
    pub fn of_copy(&mut self, from: Ppn) -> Option<SpareRecord> {
        let order = self.place_copy();
        self.of_placed_copy(from, order)
    }
    /// Returns the placement number of a copy that is being placed. The source page may not have
    /// been programmed yet.
    pub fn place_copy(&mut self) -> u64 {
        self.order += 1;
        self.order
    }
    /// Returns the record of a copy with the placement number `order`, or `None` if its source,
    /// which has been programmed, is not readable.
    pub fn of_placed_copy(&self, from: Ppn, order: u64) -> Option<SpareRecord> {
        let tag = self.spare.read(from, self.user_pages)?;
        Some(SpareRecord { order, ..tag })
    }
    /// Returns the view of the flash that recovery reads.
    pub fn flash<'a>(&'a self, array: &'a Array, layout: Layout) -> Flash<'a> {
        Flash::new(array, layout, &self.spare, self.user_pages)
    }
}

impl ProgramObserver for SpareWriter {
    fn host(&mut self, place: Ppn, page: Lpn) {
        let tag = self.of_host(page, Label::NONE);
        self.spare.write(place, tag);
    }
    fn copy(&mut self, from: Ppn, to: Ppn) {
        if let Some(tag) = self.of_copy(from) {
            self.spare.write(to, tag);
        }
    }
    fn metadata(&mut self, place: Ppn, label: u32) {
        let tag = self.of_own(label, Label::NONE);
        self.spare.write(place, tag);
    }
}

/// View of the flash that recovery reads, page by page.
#[derive(Debug)]
pub struct Flash<'a> {
    /// Array, with the number of programmed pages and erases of each block.
    pub array: &'a Array,
    /// Layout of the array.
    pub layout: Layout,
    spare: &'a Spare,
    user_pages: u32,
}

impl<'a> Flash<'a> {
    /// Creates the view of the flash after a power cut.
    pub fn new(array: &'a Array, layout: Layout, spare: &'a Spare, user_pages: u32) -> Self {
        Self {
            array,
            layout,
            spare,
            user_pages,
        }
    }
    /// Returns the record of a page, or `None` if the page is not readable.
    pub fn tag(&self, place: Ppn) -> Option<SpareRecord> {
        self.spare.read(place, self.user_pages)
    }
    /// Returns `true` if a block has a readable summary that lists the records of its other pages.
    pub fn is_summarized(&self, block: Block, summaries: Summaries) -> bool {
        self.array.programmed(block) == self.layout.pages_per_block
            && summaries.of_block(&self.layout, block).all(|page| {
                self.tag(page.place).is_some_and(|tag| {
                    tag.owner == PageOwner::Metadata(SUMMARY)
                        && tag.sequence == self.spare.digest(page.of)
                })
            })
    }
    /// Iterates over all copies of the current version of each host page: the current copy, which
    /// `current` returns, and the copies that GC has not erased yet.
    pub fn copies(&self, current: impl Fn(Lpn) -> Option<Ppn>) -> impl Iterator<Item = (Lpn, Ppn)> {
        let blocks = (0..self.layout.blocks()).map(Block);
        let pages = blocks.flat_map(|block| self.pages(block));
        pages.filter_map(move |(place, tag)| {
            let tag = tag?;
            let PageOwner::Host(page) = tag.owner else {
                return None;
            };
            let latest = self.tag(current(page)?)?;
            (latest.sequence == tag.sequence).then_some((page, place))
        })
    }
    /// Iterates over the programmed pages of a block with their records, including pages whose
    /// program failed.
    pub fn pages(&self, block: Block) -> impl Iterator<Item = (Ppn, Option<SpareRecord>)> + '_ {
        let first = self.layout.page(block, 0).0;
        let programmed = self.array.programmed(block);
        (first..first + programmed).map(|place| (Ppn(place), self.tag(Ppn(place))))
    }
}

/// Copies of a page's latest version: the first and the last in order of placement.
#[derive(Clone, Copy, Debug)]
struct Copies {
    sequence: u64,
    first: (u64, Ppn),
    last: (u64, Ppn),
}

/// Locations of the latest version of each page. An interrupted GC run leaves two copies of a
/// version. For each plane either the first or the last copies are used, whichever choice leaves
/// more blocks to erase: a GC run that was copying is undone, and one that was erasing is
/// completed. The blocks that the run had taken, or those that it would have gained, become free.
#[derive(Clone, Debug)]
pub(crate) struct Latest(Vec<Option<Copies>>);

impl Latest {
    /// Creates the table for `pages` pages, none of which has been found yet.
    pub fn new(pages: usize) -> Self {
        Self(vec![None; pages])
    }
    /// Records a found copy of a page.
    pub fn note(&mut self, page: u32, place: Ppn, tag: SpareRecord) {
        let found = &mut self.0[page as usize];
        let here = (tag.order, place);
        match found {
            Some(known) if known.sequence > tag.sequence => {}
            Some(known) if known.sequence == tag.sequence => {
                known.first = known.first.min(here);
                known.last = known.last.max(here);
            }
            _ => {
                *found = Some(Copies {
                    sequence: tag.sequence,
                    first: here,
                    last: here,
                });
            }
        }
    }
    /// Iterates over the found pages, each with its location and its placement number. A page whose
    /// later copy is not used has the number `u64::MAX`.
    pub fn decide(&self, flash: &Flash<'_>) -> impl Iterator<Item = (u32, Ppn, u64)> {
        let finished = self.finished(flash);
        let layout = flash.layout;
        let pages = (0..).zip(&self.0);
        pages.filter_map(move |(page, copies)| {
            let Copies { first, last, .. } = (*copies)?;
            let plane = layout.plane_of(layout.block_of(first.1));
            Some(if first == last || finished[plane.index()] {
                (page, last.1, last.0)
            } else {
                (page, first.1, u64::MAX)
            })
        })
    }
    /// Returns for each plane whether its last copies are used (`true`) or its first ones.
    fn finished(&self, flash: &Flash<'_>) -> Vec<bool> {
        let layout = flash.layout;
        let mut held = vec![[false; 2]; layout.blocks() as usize];
        for Copies { first, last, .. } in self.0.iter().flatten() {
            held[layout.block_of(first.1).index()][0] = true;
            held[layout.block_of(last.1).index()][1] = true;
        }
        let mut gained = vec![[0_u32; 2]; layout.planes() as usize];
        for (block, held) in (0..).map(Block).zip(held) {
            let gained = &mut gained[layout.plane_of(block).index()];
            for (gained, held) in gained.iter_mut().zip(held) {
                *gained += u32::from(!held);
            }
        }
        gained.iter().map(|[first, last]| last >= first).collect()
    }
}

/// Cost of a recovery, and the erases that remain before the device can be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Number of pages whose spare areas were read, including one page per erased block, which
    /// shows that the block is erased.
    pub pages_read: u64,
    /// Blocks without useful data, which must be erased. Report each erase with
    /// [`crate::Mapping::erased`].
    pub erase: Vec<Block>,
}
