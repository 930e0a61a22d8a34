//! Adapter for requests beyond the end of the device.

use super::Refusal;
use crate::record_counts::Counts;
use wordline_trace_format::Record;

/// Unit of scaling. Whole pages are mapped, so that requests keep their alignment to this size.
/// Bytes.
const PAGE: u64 = 4096;

/// Treatment of a request beyond the capacity of the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fit {
    /// Stop with an error.
    #[default]
    Error,
    /// Map addresses modulo the capacity. A request that crosses the end becomes two requests with
    /// the same arrival.
    Wrap,
    /// Scale down all offsets, in pages of 4 KiB, so that the highest address of the trace matches
    /// the capacity. Sizes do not change; a request that would end beyond the capacity is moved
    /// down to end at the capacity. A trace that fits is not changed. Reads the trace twice.
    Scale,
}

words! { Fit at "fit" { "error" => Error, "wrap" => Wrap, "scale" => Scale } }

/// Fitted record, and the part of it that wrapped around to the start of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fitted {
    pub(crate) record: Record,
    pub(crate) wrapped: Option<Record>,
}

/// Adapter that fits records into a capacity in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fitter {
    fit: Fit,
    capacity: u64,
    highest: u64, // end of the whole trace, for Scale
}

impl Fitter {
    pub(crate) fn new(fit: Fit, capacity: Option<u64>, highest: u64) -> Self {
        Self {
            fit,
            capacity: capacity.unwrap_or(u64::MAX),
            highest,
        }
    }

    /// Returns `true` if the record needs no change.
    #[inline]
    pub(crate) fn keeps(&self, record: &Record) -> bool {
        !self.is_scaling() && !self.is_beyond(record)
    }

    #[inline]
    fn is_scaling(&self) -> bool {
        self.fit == Fit::Scale && self.highest > self.capacity
    }

    /// Returns `true` if the record does not fit and must not be changed.
    #[inline]
    pub(crate) fn refuses(&self, record: &Record) -> bool {
        self.fit == Fit::Error && self.is_beyond(record)
    }

    #[inline]
    fn is_beyond(&self, record: &Record) -> bool {
        record
            .offset
            .checked_add(record.bytes)
            .is_none_or(|end| end > self.capacity)
    }

    /// Fits a record that is not refused.
    #[inline]
    pub(crate) fn fit(&self, record: Record, counts: &mut Counts) -> Result<Fitted, Refusal> {
        if self.keeps(&record) {
            return Ok(Fitted {
                record,
                wrapped: None,
            });
        }
        if record.bytes > self.capacity {
            return Err(too_long(&record, self.capacity));
        }
        if self.fit == Fit::Scale {
            Ok(Fitted {
                record: self.scaled(record, counts),
                wrapped: None,
            })
        } else {
            Ok(self.wrapped(record, counts))
        }
    }

    fn scaled(&self, mut record: Record, counts: &mut Counts) -> Record {
        if record.bytes == 0 {
            return record;
        }
        let pages = |bytes: u64| u128::from(bytes / PAGE);
        let highest = pages(self.highest).max(1);
        let page = pages(record.offset) * pages(self.capacity) / highest;
        let offset = page as u64 * PAGE + record.offset % PAGE;
        let last = (self.capacity - record.bytes) / wordline_trace_format::SECTOR
            * wordline_trace_format::SECTOR;
        counts.scaled += 1;
        record.offset = offset.min(last);
        record
    }

    fn wrapped(&self, mut record: Record, counts: &mut Counts) -> Fitted {
        record.offset %= self.capacity;
        counts.wrapped += 1;
        let room = self.capacity - record.offset;
        if record.bytes <= room {
            return Fitted {
                record,
                wrapped: None,
            };
        }
        counts.split += 1;
        let rest = Record {
            offset: 0,
            bytes: record.bytes - room,
            ..record
        };
        record.bytes = room;
        Fitted {
            record,
            wrapped: Some(rest),
        }
    }

    /// Returns the error for a record that does not fit. `highest`: end of the whole trace, if it
    /// is known.
    #[cold]
    pub(crate) fn refusal(&self, record: &Record, highest: Option<u64>) -> Refusal {
        let trace = match highest {
            Some(highest) => format!(" (the whole trace ends at byte {highest})"),
            None => String::new(),
        };
        Refusal::new(
            format!(
                "the request for {} bytes at offset {} ends beyond the device's {} bytes{trace}",
                record.bytes, record.offset, self.capacity
            ),
            "pass --fit wrap or --fit scale, or use a larger device",
        )
    }
}

#[cold]
fn too_long(record: &Record, capacity: u64) -> Refusal {
    Refusal::new(
        format!(
            "the request for {} bytes exceeds the device's {capacity} bytes",
            record.bytes
        ),
        "use a larger device",
    )
}
