//! What is left when the power fails: the flash, with what the spare areas of its pages say.

use wordline_nand::{Array, Block, Layout, Ppn};

use crate::lpn::Lpn;

/// Whose page it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The host's.
    Host(Lpn),
    /// The mapping's own, by its label.
    Own(u32),
}

/// What the spare area of a page says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Whose page it is.
    pub owner: Owner,
    /// Counts the writes that the device has placed: of two versions of a page the one with the
    /// greater number is the later one. A copy that a collection makes keeps the number.
    pub sequence: u64,
    /// Counts the pages that the device has placed, copies included: of two copies of one version,
    /// this tells which was made from the other.
    pub order: u64,
}

/// Spare areas of all pages.
#[derive(Clone, Debug)]
pub struct Spare {
    /// By page: 0, or 1 + the logical page; the mapping's own pages count down from the top.
    owners: Vec<u32>,
    sequences: Vec<u64>,
    orders: Vec<u64>,
}

impl Spare {
    /// Of a pristine array.
    pub fn new(layout: &Layout) -> Self {
        let pages = layout.pages() as usize;
        Self {
            owners: vec![0; pages],
            sequences: vec![0; pages],
            orders: vec![0; pages],
        }
    }
    /// A page has been programmed.
    pub fn write(&mut self, place: Ppn, tag: Tag) {
        self.owners[place.index()] = match tag.owner {
            Owner::Host(page) => page.0 + 1,
            Owner::Own(label) => u32::MAX - label,
        };
        self.sequences[place.index()] = tag.sequence;
        self.orders[place.index()] = tag.order;
    }
    /// A page holds nothing that can be read: it was never programmed, its block was erased, or the
    /// power failed while it was being programmed.
    pub fn clear(&mut self, place: Ppn) {
        self.owners[place.index()] = 0;
    }
    fn read(&self, place: Ppn, user_pages: u32) -> Option<Tag> {
        let owner = match self.owners[place.index()] {
            0 => return None,
            owner if owner <= user_pages => Owner::Host(Lpn(owner - 1)),
            owner => Owner::Own(u32::MAX - owner),
        };
        Some(Tag {
            owner,
            sequence: self.sequences[place.index()],
            order: self.orders[place.index()],
        })
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
    pub fn tag(&self, place: Ppn) -> Option<Tag> {
        self.spare.read(place, self.user_pages)
    }
    /// Pages of a block that have been programmed, be it in vain, with what they say.
    pub fn pages(&self, block: Block) -> impl Iterator<Item = (Ppn, Option<Tag>)> + '_ {
        let first = self.layout.page(block, 0).0;
        let programmed = self.array.programmed(block);
        (first..first + programmed).map(|place| (Ppn(place), self.tag(Ppn(place))))
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
