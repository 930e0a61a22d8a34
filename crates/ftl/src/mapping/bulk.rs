//! Bulk operations on many pages.

use std::ops::Range;

use wordline_nand::{Block, Plane, Ppn};

use super::Mapping;
use crate::job::JobId;
use crate::lpn::Lpn;

/// Host page that has been placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Logical page.
    pub page: Lpn,
    /// Physical page.
    pub place: Ppn,
    /// Plane of the physical page.
    pub plane: Plane,
    /// Block of the superseded copy, if any.
    pub superseded: Option<Block>,
}

/// Mapping that processes many pages per call, with the same result as single calls.
pub trait Bulk: Mapping {
    /// Writes pages in a row, with the result of calling [`Mapping::write`] for each. Stops before
    /// a page without room, and after a page that leaves its plane in need of GC or takes a free
    /// block. Calls `placed` for each page; its error ends the row. To write the rest, call again;
    /// use `write` for the next page if no page was placed.
    fn write_row<E>(
        &mut self,
        pages: Range<u32>,
        placed: impl FnMut(Placed) -> Result<(), E>,
    ) -> Result<(), E>;
    /// Returns the pages that a job moves before its next step of another kind, as a sequence of
    /// [`crate::Step::Move`] would: calls `read` for each with its plane.
    fn read_all(&mut self, job: JobId, read: impl FnMut(Plane, Ppn));
    /// Moves the pages that a job moves before its next step of another kind, as a sequence of
    /// [`crate::Step::Move`] and [`Mapping::relocate`] would. Calls `copied` for each page and its
    /// copy; its error ends the moves.
    fn move_all<E>(
        &mut self,
        job: JobId,
        copied: impl FnMut(Ppn, Ppn) -> Result<(), E>,
    ) -> Result<(), E>;
}
