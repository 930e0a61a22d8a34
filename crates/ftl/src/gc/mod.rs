//! Garbage collection.

pub mod victim;

use wordline_nand::{Block, Plane};

/// A collection in progress: its victim, and how far its pages have been looked at.
///
/// A collection moves the victim's valid pages within their plane, then erases the victim. Between
/// any two of these operations it can be left and taken up again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collection {
    /// The plane that is collected.
    pub plane: Plane,
    /// The block that will be erased.
    pub victim: Block,
    /// The next page of the victim to look at.
    pub(crate) cursor: u32,
}
