//! What a format cannot say of a request.

use crate::Request;
use crate::fields::SECTOR;
use wordline_block::Op;

/// What a format loses of the requests written in it.
#[derive(Clone, Debug, Default)]
pub struct Losses {
    /// Trims left out.
    pub trims: u64,
    /// Flushes left out.
    pub flushes: u64,
    /// Requests whose time was rounded down to a tick of the format.
    pub rounded_times: u64,
    /// Requests expanded to whole sectors.
    pub expanded: u64,
    /// Durable writes written as plain ones.
    pub durable: u64,
}

impl Losses {
    /// Requests left out.
    pub fn left_out(&self) -> u64 {
        self.trims + self.flushes
    }
}

/// Whether the operation moves data; one that does not is counted as left out.
pub(crate) fn moves_data(request: &Request, losses: &mut Losses) -> bool {
    losses.durable += u64::from(request.fua);
    match request.op {
        Op::Read | Op::Write => return true,
        Op::Trim => losses.trims += 1,
        Op::Flush => losses.flushes += 1,
    }
    false
}

/// The arrival in ticks, rounded down.
pub(crate) fn ticks(request: &Request, tick_ps: u64, losses: &mut Losses) -> u64 {
    let ps = request.arrival.ps();
    losses.rounded_times += u64::from(!ps.is_multiple_of(tick_ps));
    ps / tick_ps
}

/// First sector and number of sectors that the request touches.
pub(crate) fn sectors(request: &Request, losses: &mut Losses) -> (u64, u64) {
    let (first, end) = (request.offset / SECTOR, request.end().div_ceil(SECTOR));
    let whole = (request.offset | request.bytes).is_multiple_of(SECTOR);
    losses.expanded += u64::from(!whole);
    (first, end - first)
}
