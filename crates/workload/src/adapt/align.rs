//! Adapter for requests that are not whole sectors.

use super::Refusal;
use crate::Op;
use crate::record_counts::Counts;
use wordline_trace_format::Record;
use wordline_trace_format::SECTOR;

/// Treatment of a request whose offset or size is not a multiple of 512 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// Stop with an error.
    #[default]
    Error,
    /// Expand the request to every 512-byte sector that it touches. Shrink a TRIM to the sectors
    /// that it covers completely, so that no other data is lost; drop a TRIM that covers none.
    Expand,
    /// Keep the request. For statistics and conversions only, because devices address sectors.
    Keep,
}

words! { Align at "align" { "error" => Error, "expand" => Expand, "keep" => Keep } }

/// Returns `true` if the record needs no change.
#[inline]
pub(crate) fn is_aligned(align: Align, record: &Record) -> bool {
    (record.offset | record.bytes).is_multiple_of(SECTOR) || align == Align::Keep
}

/// Aligns the record to sectors. Returns `false` if the record must be dropped.
#[inline]
pub(crate) fn aligned(
    align: Align,
    record: &mut Record,
    counts: &mut Counts,
) -> Result<bool, Refusal> {
    if is_aligned(align, record) {
        return Ok(true);
    }
    if align == Align::Error {
        return Err(unaligned(record));
    }
    if record.op == Op::Trim {
        counts.trims_shrunk += 1;
        return Ok(shrunk(record));
    }
    let start = record.offset - record.offset % SECTOR;
    let end = record.offset.checked_add(record.bytes);
    let end = end
        .and_then(|end| end.checked_next_multiple_of(SECTOR))
        .ok_or_else(|| {
            Refusal::new(
                "the request, expanded to whole sectors, ends beyond 2^64 bytes",
                "",
            )
        })?;
    (record.offset, record.bytes) = (start, end - start);
    counts.expanded += 1;
    Ok(true)
}

/// Shrinks the record to the sectors that it covers completely. Returns `false` if there are none.
fn shrunk(record: &mut Record) -> bool {
    let start = record.offset.div_ceil(SECTOR);
    let end = (record.offset + record.bytes) / SECTOR;
    if start >= end {
        return false;
    }
    (record.offset, record.bytes) = (start * SECTOR, (end - start) * SECTOR);
    true
}

#[cold]
fn unaligned(record: &Record) -> Refusal {
    let (what, value) = if record.offset.is_multiple_of(SECTOR) {
        ("size", record.bytes)
    } else {
        ("offset", record.offset)
    };
    let remedy = match record.op {
        Op::Trim => "pass --align expand to use the sectors that it covers",
        _ => "pass --align expand to use every sector that it touches",
    };
    Refusal::new(
        format!("the {what} {value} is not a multiple of {SECTOR} bytes"),
        remedy,
    )
}
