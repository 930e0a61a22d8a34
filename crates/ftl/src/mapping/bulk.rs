//! Many pages at a time.

use std::ops::Range;

use wordline_nand::{Block, Plane, Ppn};

use super::Mapping;
use crate::job::JobId;
use crate::lpn::Lpn;

/// A page of the host that has found its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The page.
    pub page: Lpn,
    /// Its place.
    pub place: Ppn,
    /// The plane of the place.
    pub plane: Plane,
    /// The block of the copy that it supersedes, if any.
    pub superseded: Option<Block>,
}

/// A mapping that does many pages at a time, with the same result as one after the other.
pub trait Bulk: Mapping {
    /// Writes pages in a row, as [`Mapping::write`] would one after the other: up to one that has no
    /// room, and not beyond one that leaves its plane in want of a collection or that took a free
    /// block. `placed` hears of each; what it fails with ends this. Whoever wants the rest written calls again,
    /// and uses `write` for the next page when nothing was placed.
    fn write_row<E>(
        &mut self,
        pages: Range<u32>,
        placed: impl FnMut(Placed) -> Result<(), E>,
    ) -> Result<(), E>;
    /// Hands out the pages that a job has left to move before its next other step, one after the
    /// other as [`crate::Step::Move`] would: `read` hears of each and its plane.
    fn read_all(&mut self, job: JobId, read: impl FnMut(Plane, Ppn));
    /// Moves the pages that a job has left to move before its next other step, one after the other as
    /// [`crate::Step::Move`] and [`Mapping::relocate`] would: `copied` hears of each page and its
    /// copy, and what it fails with ends this.
    fn move_all<E>(
        &mut self,
        job: JobId,
        copied: impl FnMut(Ppn, Ppn) -> Result<(), E>,
    ) -> Result<(), E>;
}
