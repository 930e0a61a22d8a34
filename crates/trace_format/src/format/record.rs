//! Requests as recorded in files.

use crate::error::Place;
use wordline_block::Op;

/// Request as recorded in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Time stamp in ticks of the reader, from any origin.
    pub ticks: u64,
    /// Offset of the first byte.
    pub offset: u64,
    /// Length of the request. Bytes.
    pub bytes: u64,
    /// Volume or disk; 0 if the format has none.
    pub volume: u32,
    /// Operation of the request.
    pub op: Op,
    /// Whether a write is durable on completion, as in [`crate::Request`].
    pub fua: bool,
    /// Recorded response time, in ticks; [`Record::UNSTATED`] if the file does not state it.
    pub response: u64,
}

impl Record {
    /// Value of ticks that a file does not state.
    pub const UNSTATED: u64 = UNSTATED;
    /// Creates a record of a format without durable writes.
    #[inline]
    pub(crate) const fn plain(ticks: u64, op: Op, offset: u64, bytes: u64, volume: u32) -> Self {
        Self {
            ticks,
            offset,
            bytes,
            volume,
            op,
            fua: false,
            response: UNSTATED,
        }
    }
}

/// Origin of a file's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Time zero is the time stamp of the first record.
    First,
    /// Time zero is tick 0 of the file.
    Zero,
}

/// Ticks of a record whose file does not state a time within the range of the clock.
pub const UNSTATED: u64 = u64::MAX;

/// Record and its position in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Record as in the file.
    pub record: Record,
    /// Line of the record, or its number and first byte.
    pub place: Place,
}

/// Picoseconds per unit of time stamps.
pub(crate) mod tick {
    pub(crate) const PS: u64 = 1;
    pub(crate) const NS: u64 = 1_000;
    pub(crate) const FILETIME: u64 = 100_000;
    pub(crate) const US: u64 = 1_000_000;
    pub(crate) const S: u64 = 1_000_000_000_000;
}
