//! Owner of the pages of an FTL, if it is not the host.

use std::ops::Range;

use wordline_nand::Ppn;

use crate::lpn::Lpn;
use crate::recovery::{Flash, Label, SpareRecord};

/// Owner of the pages in an FTL.
pub trait Owner {
    /// Returns `true` if a page is in use, so that it is worth moving.
    fn is_hot(&self, page: Lpn) -> bool;
    /// Returns `true` if the flash contains the only copy of the page's data. GC moves such a page
    /// whatever its policy.
    fn is_only_copy(&self, page: Lpn) -> bool;
    /// Reports that the copy of a page, valid or suspected, is lost with its block, because a GC
    /// run has started.
    fn lost(&mut self, page: Lpn);

    /// Spare-area label of the page being programmed.
    fn label(&self, _page: Lpn) -> Label {
        Label::NONE
    }
    /// Reports the location of a page that was submitted with a label.
    fn placed(&mut self, _place: Ppn, _label: Label) {}
    /// Reports the location of a copy of a page.
    fn copied(&mut self, _from: Ppn, _to: Ppn) {}
    /// Metadata page of the owner that must be programmed before these pages are erased, if any.
    /// All pages of the block that are moved have been moved. The metadata page must not have a
    /// location yet.
    fn owes(&mut self, _block: Range<u32>) -> Option<Lpn> {
        None
    }
    /// Reports the program of that metadata page. Returns the metadata pages that are no longer
    /// needed.
    fn recorded(&mut self, _page: Lpn) -> Vec<Lpn> {
        Vec::new()
    }
    /// Reports the erase of these pages.
    fn erased(&mut self, _block: Range<u32>) {}
    /// Recovers after a power cut: the owner rescans the flash and returns the copies to keep.
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
    /// All copies of all pages that are kept.
    pub copies: Vec<Claim>,
    /// Page numbers in use. Count.
    pub numbers: u32,
    /// Pages read in addition to the spare areas. Count.
    pub pages_read: u64,
}
