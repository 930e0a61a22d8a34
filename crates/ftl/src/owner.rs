//! Who owns the pages of a translation layer, if not the host.

use crate::lpn::Lpn;

/// Whose pages a translation layer keeps.
pub trait Owner {
    /// Whether a page is one of those that are in use.
    fn is_hot(&self, page: Lpn) -> bool;
    /// Whether nothing but the flash holds a page as it is: collections move it whatever they do with others.
    fn is_only_copy(&self, page: Lpn) -> bool;
    /// The copy of a page, valid or suspected, is lost with its block, from now on: the collection has begun.
    fn lost(&mut self, page: Lpn);
}
