//! Information that a conversion loses.

use crate::Request;
use crate::fields::SECTOR;
use wordline_block::Op;

/// Information that requests lost when they were written in a format. Counts.
#[derive(Clone, Debug, Default)]
pub struct Losses {
    /// TRIMs that were dropped.
    pub trims: u64,
    /// Flushes that were dropped.
    pub flushes: u64,
    /// Requests whose time was rounded down to a tick of the format.
    pub rounded_times: u64,
    /// Requests expanded to whole sectors.
    pub expanded: u64,
    /// Durable writes that were written as ordinary writes.
    pub durable: u64,
}

impl Losses {
    /// Returns the number of requests dropped.
    pub fn left_out(&self) -> u64 {
        self.trims + self.flushes
    }
}

/// Returns `true` if the operation moves data. Otherwise counts the request as dropped. Counts
/// durable writes in either case.
pub(crate) fn moves_data(request: &Request, losses: &mut Losses) -> bool {
    losses.durable += u64::from(request.fua);
    match request.op {
        Op::Read | Op::Write => return true,
        Op::Trim => losses.trims += 1,
        Op::Flush => losses.flushes += 1,
    }
    false
}

/// Returns the arrival in ticks, rounded down. Counts rounded times.
pub(crate) fn ticks(request: &Request, tick_ps: u64, losses: &mut Losses) -> u64 {
    let ps = request.arrival.ps();
    losses.rounded_times += u64::from(!ps.is_multiple_of(tick_ps));
    ps / tick_ps
}

/// Returns the first sector and the number of sectors of a request. Counts requests expanded to
/// whole sectors.
pub(crate) fn sectors(request: &Request, losses: &mut Losses) -> (u64, u64) {
    let (first, end) = (request.offset / SECTOR, request.end().div_ceil(SECTOR));
    let whole = (request.offset | request.bytes).is_multiple_of(SECTOR);
    losses.expanded += u64::from(!whole);
    (first, end - first)
}
