//! Owner of the pages of an FTL, which takes the place of the host: a flash cache.

use std::ops::Range;

use wordline_nand::Ppn;

use crate::lpn::Lpn;
use crate::recovery::{Flash, Label, SpareRecord};

/// Owner of the pages of an FTL, such as a cache.
pub trait Owner {
    /// Returns `true` if a page was used recently enough to be worth moving.
    fn is_hot(&self, page: Lpn) -> bool;
    /// Returns `true` if the flash contains the only copy of the page's data. GC moves this page
    /// under every reclaim policy.
    fn is_only_copy(&self, page: Lpn) -> bool;
    /// Reports that the copy of a page, valid or suspected, is lost because a GC run of its block
    /// has started.
    fn lost(&mut self, page: Lpn);

    /// Returns the spare-area label of the page being programmed.
    fn label(&self, _page: Lpn) -> Label {
        Label::NONE
    }
    /// Reports the location of a page that was submitted with a label.
    fn placed(&mut self, _place: Ppn, _label: Label) {}
    /// Reports that a copy of a page has been made.
    fn copied(&mut self, _from: Ppn, _to: Ppn) {}
    /// Returns the metadata page of the owner that must be programmed before a block is erased, if
    /// any. Called after a GC run has moved all pages that it moves out of the block. The metadata
    /// page must not have a location yet.
    fn owes(&mut self, _block: Range<u32>) -> Option<Lpn> {
        None
    }
    /// Reports that the metadata page has been programmed. Returns the metadata pages that are no
    /// longer needed.
    fn recorded(&mut self, _page: Lpn) -> Vec<Lpn> {
        Vec::new()
    }
    /// Reports the erase of a block, given by its pages.
    fn erased(&mut self, _block: Range<u32>) {}
    /// Recovers the owner after a power cut: it rescans the flash and returns the copies to keep.
    fn recover(&mut self, _flash: &Flash<'_>) -> Claims {
        Claims::default()
    }
}

/// Copy of a page that its owner keeps.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// New number of the page.
    pub page: Lpn,
    /// Location of the copy.
    pub place: Ppn,
    /// Spare-area record of the copy. All claimed copies of a page have the same sequence number.
    pub tag: SpareRecord,
}

/// Pages that an owner keeps after a power cut.
#[derive(Clone, Debug, Default)]
pub struct Claims {
    /// All copies of all pages to keep.
    pub copies: Vec<Claim>,
    /// Number of page numbers in use.
    pub numbers: u32,
    /// Number of pages read in addition to the spare areas.
    pub pages_read: u64,
}
