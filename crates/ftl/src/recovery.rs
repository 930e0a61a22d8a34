//! What is left when the power fails: the flash, with what the spare areas of its pages say.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use wordline_kernel::Digest;
use wordline_kernel::memory::{Fill, Table};
use wordline_nand::{Array, Block, Layout, Ppn};

use crate::lpn::Lpn;
use crate::summary::{Summaries, SummaryPage};

/// Whose page it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PageOwner {
    /// The host's.
    Host(Lpn),
    /// The mapping's metadata, by its label.
    Metadata(u32),
}

/// The label of the pages of block summaries.
pub const SUMMARY: u32 = u32::MAX / 2;

/// What the owner of a page has its spare area say beside. A copy says the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// What the page is, in the owner's words; 0 says nothing.
    pub what: u64,
    /// Which version of it, in the owner's count.
    pub sequence: u64,
}

impl Label {
    /// Of a page that says nothing.
    pub const NONE: Self = Self {
        what: 0,
        sequence: 0,
    };
}

/// What the spare area of a page says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpareRecord {
    /// Whose page it is.
    pub owner: PageOwner,
    /// Counts the writes that the device has placed: of two versions of a page the one with the
    /// greater number is the later one. A copy that a collection makes keeps the number.
    pub sequence: u64,
    /// Counts the pages that the device has placed, copies included: of two copies of one version,
    /// this tells which was made from the other.
    pub order: u64,
    /// What the owner has it say.
    pub label: Label,
}

/// Spare areas of all pages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Spare {
    /// By page: 0, or 1 + the logical page; pages of metadata count down from the top.
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
    /// Of a pristine array.
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
    /// What the spare areas take of memory.
    pub fn memory(layout: &Layout, fill: Fill) -> [Table; 3] {
        let pages = u64::from(layout.pages());
        [
            Table::zeroed::<u32>("owners in spare areas", pages, fill.physical),
            Table::zeroed::<u64>("versions in spare areas", pages, fill.physical),
            Table::zeroed::<u64>("order of copies in spare areas", pages, fill.physical),
        ]
    }
    /// A page has been programmed.
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
    /// A page holds nothing that can be read: it was never programmed, its block was erased, or the
    /// power failed while it was being programmed.
    pub fn clear(&mut self, place: Ppn) {
        self.owners[place.index()] = 0;
    }
    /// What a summary of these pages lists, in a word; one that cannot be read is listed as such.
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

/// Hears of every page that is programmed.
pub trait ProgramObserver {
    /// Whether it makes something of what it hears.
    const LISTENS: bool = true;
    /// A page of the host has been programmed.
    fn host(&mut self, place: Ppn, page: Lpn);
    /// A copy of a page has been programmed.
    fn copy(&mut self, from: Ppn, to: Ppn);
    /// A page of metadata has been programmed.
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

/// The spare areas of a device, and the numbers that the next pages get.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SpareWriter {
    /// What has been programmed.
    pub spare: Spare,
    user_pages: u32,
    sequence: u64,
    order: u64,
}

impl SpareWriter {
    /// Of a pristine array, for so many logical pages of the host.
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
    /// What a page of the host that is placed now will say.
    pub fn of_host(&mut self, page: Lpn, label: Label) -> SpareRecord {
        self.next(PageOwner::Host(page), label)
    }
    /// What a page of metadata that is placed now will say: which of them it is, and its label.
    pub fn of_own(&mut self, number: u32, label: Label) -> SpareRecord {
        self.next(PageOwner::Metadata(number), label)
    }
    /// What a page of a block summary says that is programmed now: its sequence stands for what it lists.
    pub fn of_summary(&mut self, page: &SummaryPage) -> SpareRecord {
        self.order += 1;
        SpareRecord {
            owner: PageOwner::Metadata(SUMMARY),
            sequence: self.spare.digest(page.of.clone()),
            order: self.order,
            label: Label::NONE,
        }
    }
    /// What a copy that is placed now will say; `None` if the page it is made of, which has been
    /// programmed, cannot be read.
    pub fn of_copy(&mut self, from: Ppn) -> Option<SpareRecord> {
        let order = self.place_copy();
        self.of_placed_copy(from, order)
    }
    /// A copy is placed now of a page that need not have been programmed yet: the copy's number
    /// among all that is placed.
    pub fn place_copy(&mut self) -> u64 {
        self.order += 1;
        self.order
    }
    /// What a copy says that got its number before, once the page it is made of has been programmed.
    pub fn of_placed_copy(&self, from: Ppn, order: u64) -> Option<SpareRecord> {
        let tag = self.spare.read(from, self.user_pages)?;
        Some(SpareRecord { order, ..tag })
    }
    /// The flash, as a recovery reads it.
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

/// The flash as a recovery reads it, page by page.
#[derive(Debug)]
pub struct Flash<'a> {
    /// The array: how far each block is programmed, and how often it was erased.
    pub array: &'a Array,
    /// Its division.
    pub layout: Layout,
    spare: &'a Spare,
    user_pages: u32,
}

impl<'a> Flash<'a> {
    /// The flash after the power has failed.
    pub fn new(array: &'a Array, layout: Layout, spare: &'a Spare, user_pages: u32) -> Self {
        Self {
            array,
            layout,
            spare,
            user_pages,
        }
    }
    /// What the spare area of a page says; `None` if it cannot be read.
    pub fn tag(&self, place: Ppn) -> Option<SpareRecord> {
        self.spare.read(place, self.user_pages)
    }
    /// Whether a block has a summary that can be read and lists what the other pages of the block say.
    pub fn is_summarized(&self, block: Block, summaries: Summaries) -> bool {
        self.array.programmed(block) == self.layout.pages_per_block
            && summaries.of_block(&self.layout, block).all(|page| {
                self.tag(page.place).is_some_and(|tag| {
                    tag.owner == PageOwner::Metadata(SUMMARY)
                        && tag.sequence == self.spare.digest(page.of)
                })
            })
    }
    /// All pages of the host that hold the version of the current copy, which `current` finds: that
    /// copy, and those that collections have left behind.
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
    /// Pages of a block that have been programmed, be it in vain, with what they say.
    pub fn pages(&self, block: Block) -> impl Iterator<Item = (Ppn, Option<SpareRecord>)> + '_ {
        let first = self.layout.page(block, 0).0;
        let programmed = self.array.programmed(block);
        (first..first + programmed).map(|place| (Ppn(place), self.tag(Ppn(place))))
    }
}

/// The copies of a page's latest version: the first and the last in the order of their placement.
#[derive(Clone, Copy, Debug)]
struct Copies {
    sequence: u64,
    first: (u64, Ppn),
    last: (u64, Ppn),
}

/// Where the latest version of every page is. A collection that was cut off leaves two copies of a
/// version. On each plane either the first ones count or the last ones, whichever leave more blocks
/// to erase: a collection that was copying is undone, one that was erasing is finished, and the
/// blocks that it had taken, or those that it was to gain, are gained.
#[derive(Clone, Debug)]
pub(crate) struct Latest(Vec<Option<Copies>>);

impl Latest {
    /// Of so many pages, none of which has been found.
    pub fn new(pages: usize) -> Self {
        Self(vec![None; pages])
    }
    /// A copy of a page has been found.
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
    /// The pages that were found: each with its place, and with the order of its placement. What
    /// was placed again, and counts where it was before, has the highest order of all.
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
    /// By plane, whether the last copies count.
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

/// What a recovery took, and what is left to do before the device can be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Pages whose spare areas were read, those of erased blocks included: one of each block tells
    /// whether it is erased.
    pub pages_read: u64,
    /// Blocks that hold nothing of use and have to be erased; tell [`crate::Mapping::erased`] of
    /// each.
    pub erase: Vec<Block>,
}
