//! Who owns the pages of a translation layer, if not the host.

use std::ops::Range;

use wordline_nand::Ppn;

use crate::lpn::Lpn;
use crate::recovery::{Flash, Label, SpareRecord};

/// Whose pages a translation layer keeps.
pub trait Owner {
    /// Whether a page is one of those that are in use.
    fn is_hot(&self, page: Lpn) -> bool;
    /// Whether nothing but the flash holds a page as it is: collections move it whatever they do with others.
    fn is_only_copy(&self, page: Lpn) -> bool;
    /// The copy of a page, valid or suspected, is lost with its block, from now on: the collection has begun.
    fn lost(&mut self, page: Lpn);

    /// What the spare area of a page is to say whose program is submitted now.
    fn label(&self, _page: Lpn) -> Label {
        Label::NONE
    }
    /// A page has got its place, with the label of its submission.
    fn placed(&mut self, _place: Ppn, _label: Label) {}
    /// A copy of a page has got its place.
    fn copied(&mut self, _from: Ppn, _to: Ppn) {}
    /// All of a block has been moved that is to be, and these pages are to be erased: a page of the owner's metadata that has to be
    /// programmed before, if there is one. It has had no place yet.
    fn owes(&mut self, _block: Range<u32>) -> Option<Lpn> {
        None
    }
    /// That page is programmed: pages of metadata that nobody needs any more.
    fn recorded(&mut self, _page: Lpn) -> Vec<Lpn> {
        Vec::new()
    }
    /// These pages have been erased.
    fn erased(&mut self, _block: Range<u32>) {}
    /// The memory has been lost: the owner reads anew what the flash holds, and says what of it is to be kept.
    fn recover(&mut self, _flash: &Flash<'_>) -> Claims {
        Claims::default()
    }
}

/// A copy of a page that its owner wants to keep.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// The number that the page has from now on.
    pub page: Lpn,
    /// Where the copy is.
    pub place: Ppn,
    /// What its spare area says; all copies of a page that are claimed have the same sequence.
    pub tag: SpareRecord,
}

/// What an owner keeps after a power cut.
#[derive(Clone, Debug, Default)]
pub struct Claims {
    /// All copies of all pages that are kept.
    pub copies: Vec<Claim>,
    /// Numbers of pages that are given.
    pub numbers: u32,
    /// Pages that were read beside the spare areas.
    pub pages_read: u64,
}
