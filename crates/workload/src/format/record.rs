//! Requests as files state them.

use crate::Op;
use crate::error::Place;

/// A request as its file states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// In ticks of the reader, from any origin.
    pub(crate) ticks: u64,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    pub(crate) volume: u32,
    pub(crate) op: Op,
    /// As in [`Request`].
    pub(crate) fua: bool,
    /// Recorded response time, in ticks; [`Record::UNSTATED`] if the file does not say.
    pub(crate) response: u64,
}

impl Record {
    /// Ticks that a file does not state.
    pub(crate) const UNSTATED: u64 = UNSTATED;
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
pub(crate) enum Origin {
    /// At the time of its first record.
    First,
    /// At zero.
    Zero,
}

/// The ticks of a record that states no time of the clock.
pub(crate) const UNSTATED: u64 = u64::MAX;

/// A record and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) record: Record,
    pub(crate) place: Place,
}

/// Picoseconds in units of time stamps.
pub(crate) mod tick {
    pub(crate) const PS: u64 = 1;
    pub(crate) const NS: u64 = 1_000;
    pub(crate) const FILETIME: u64 = 100_000;
    pub(crate) const US: u64 = 1_000_000;
    pub(crate) const S: u64 = 1_000_000_000_000;
}
