//! Where a logical page is.
//!
//! A mapping owns its allocation and its collections, because families differ in both (a hybrid
//! mapping merges where a page mapping moves). The device asks for one decision at a time and
//! carries it out.

pub mod page;

use wordline_nand::{Block, Plane, Ppn};

pub use page::PageMap;

use crate::gc::Collection;
use crate::lpn::Lpn;

wordline_kernel::family! {
    /// Where is a logical page?
    pub enum Family at "ftl.mapping" {
        "page" => Page(page::Page),
    }
}

impl Default for Family {
    fn default() -> Self {
        Self::Page(page::Page::default())
    }
}

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// The page is to be programmed there, and from now on found there.
    Placed(Ppn),
    /// No room now. Until there is, that plane, or if none is named every plane, is to be collected
    /// whenever [`Mapping::collect`] gives a collection; ask again when a block has been erased.
    Wait(Option<Plane>),
}

/// A mapping family, as the device uses it. No method takes time; the operations that follow do.
pub trait Mapping {
    /// Pages the host can address.
    fn user_pages(&self) -> u32;
    /// Free blocks of the whole device; constant time.
    fn free_blocks(&self) -> u32;
    /// Where the current copy of a page is, if it was ever written.
    fn lookup(&self, page: Lpn) -> Option<Ppn>;
    /// Finds a place for a new copy of a page; the old one is invalid from now on.
    fn write(&mut self, page: Lpn) -> Written;
    /// Whether `plane` should collect now.
    fn wants_collection(&self, plane: Plane) -> bool;
    /// Starts a collection of `plane`, unless one is in progress or nothing in it can be gained.
    fn collect(&mut self, plane: Plane) -> Option<Collection>;
    /// The next page that the collection has to move, if any is left.
    fn next_to_move(&self, collection: &mut Collection) -> Option<Ppn>;
    /// A page of a victim has been read: where its copy goes, or `None` if it is no longer valid.
    fn relocate(&mut self, from: Ppn) -> Option<Ppn>;
    /// A victim is erased, for the `erases`th time; its collection is over.
    fn erased(&mut self, block: Block, erases: u32);
}
