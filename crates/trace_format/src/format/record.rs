//! Requests as files state them.

use crate::error::Place;
use wordline_block::Op;

/// A request as its file states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// In ticks of the reader, from any origin.
    pub ticks: u64,
    /// First byte.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// Volume or disk; zero where the format knows none.
    pub volume: u32,
    /// The operation.
    pub op: Op,
    /// As in [`Request`].
    pub fua: bool,
    /// Recorded response time, in ticks; [`Record::UNSTATED`] if the file does not say.
    pub response: u64,
}

impl Record {
    /// Ticks that a file does not state.
    pub const UNSTATED: u64 = UNSTATED;
    /// One of a format that knows no durable writes.
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

/// Where the clock of a file starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// At the time of its first record.
    First,
    /// At zero.
    Zero,
}

/// The ticks of a record that states no time of the clock.
pub const UNSTATED: u64 = u64::MAX;

/// A record and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The record.
    pub record: Record,
    /// Its line, or its number and first byte.
    pub place: Place,
}

/// Picoseconds in units of time stamps.
pub(crate) mod tick {
    pub(crate) const PS: u64 = 1;
    pub(crate) const NS: u64 = 1_000;
    pub(crate) const FILETIME: u64 = 100_000;
    pub(crate) const US: u64 = 1_000_000;
    pub(crate) const S: u64 = 1_000_000_000_000;
}
