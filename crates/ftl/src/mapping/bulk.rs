//! Bulk operations on many pages.

use std::ops::Range;

use wordline_nand::{Block, Plane, Ppn};

use super::Mapping;
use crate::job::JobId;
use crate::lpn::Lpn;

/// Host page that has been assigned a physical page.
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
    /// Writes consecutive pages, with the same result as calling [`Mapping::write`] for each. Stops
    /// before a page that finds no room, and after a page that takes a free block or whose plane
    /// may need GC. Calls `placed` for each page; an error of `placed` stops the writes. To write
    /// the remaining pages, call again; if no page was placed, use `write` for the next page.
    fn write_row<E>(
        &mut self,
        pages: Range<u32>,
        placed: impl FnMut(Placed) -> Result<(), E>,
    ) -> Result<(), E>;
    /// Takes the pages that a job moves before its next step of another kind, as a sequence of
    /// [`crate::Step::Move`] would. Calls `read` for each page with its plane.
    fn read_all(&mut self, job: JobId, read: impl FnMut(Plane, Ppn));
    /// Moves the pages that a job moves before its next step of another kind, as a sequence of
    /// [`crate::Step::Move`] and [`Mapping::relocate`] would. Calls `copied` for each page and its
    /// copy; an error of `copied` stops the moves.
    fn move_all<E>(
        &mut self,
        job: JobId,
        copied: impl FnMut(Ppn, Ppn) -> Result<(), E>,
    ) -> Result<(), E>;
}
