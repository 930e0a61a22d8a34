//! MQSim ASCII traces. Columns: time in nanoseconds, device, LBA and size in sectors of 512 bytes,
//! 1 = read or 0 = write.
//!
//! Lines of five integers have times in nanoseconds, unless that implies more than 8 GB/s at the
//! start of the file. In that case they have times in microseconds and are read as `ssdsim-us`.

use std::io::{self, Write};

use super::disksim_columns::behind_time;
use super::{Line, Probe, Reader, Record, is_number, tick};
use crate::Request;
use crate::conversion_losses::{Losses, sectors, ticks};
use crate::error::Fault;
use crate::fields::{Blanks, Row, SECTOR};
use wordline_block::Op;

const FASTEST_BYTES_PER_NS: u128 = 8;

struct Mqsim;

pub(super) fn detect(probe: &Probe) -> bool {
    has_shape(probe) && !too_fast(probe)
}

pub(super) fn open(_: &Probe) -> Box<dyn Reader> {
    Box::new(Mqsim)
}

/// Returns `true` if more than half of the lines are five integers separated by blanks.
pub(super) fn has_shape(probe: &Probe) -> bool {
    probe.most_rows(|mut fields: Blanks| {
        (0..5).all(|_| fields.is(is_number)) && fields.end().is_ok()
    })
}

/// Returns `true` if times in nanoseconds imply more than 8 GB/s.
pub(super) fn too_fast(probe: &Probe) -> bool {
    let mut bytes = 0_u128;
    let mut span: Option<(u64, u64)> = None;
    for record in probe
        .lines()
        .filter_map(|line| parse(&mut Blanks::new(line)).ok().flatten())
    {
        bytes += u128::from(record.bytes);
        let (first, last) = span.unwrap_or((record.ticks, record.ticks));
        span = Some((first.min(record.ticks), last.max(record.ticks)));
    }
    let elapsed = span.map_or(0, |(first, last)| u128::from(last - first));
    elapsed > 0 && bytes > FASTEST_BYTES_PER_NS * elapsed
}

/// Parses the five columns. The time stamp may have any unit.
#[inline]
pub(super) fn parse(fields: &mut Blanks) -> Result<Option<Record>, Fault> {
    let ticks = fields.stamp("time stamp")?;
    behind_time(fields, ticks, SECTOR)
}

impl Line for Mqsim {
    const TICK_PS: u64 = tick::NS;
    type Fields<'a> = Blanks<'a>;

    #[inline]
    fn parse(&mut self, fields: &mut Blanks<'_>) -> Result<Option<Record>, Fault> {
        parse(fields)
    }
}

/// Writes a request as a line, and counts the information that the format cannot express.
pub(super) fn line(out: &mut dyn Write, request: &Request, losses: &mut Losses) -> io::Result<()> {
    let ns = ticks(request, tick::NS, losses);
    let (first, sectors) = sectors(request, losses);
    let flag = u8::from(request.op == Op::Read);
    writeln!(out, "{ns} {} {first} {sectors} {flag}", request.volume)
}

#[cfg(test)]
mod tests {
    use super::super::parsed;
    use super::*;
    use crate::format::Format;

    #[test]
    fn line_of_the_websearch1_trace_is_parsed() {
        let expected = Record {
            ticks: 11_565_000,
            offset: 31_244_784 * 512,
            bytes: 64 * 512,
            volume: 1,
            op: Op::Read,
            fua: false,
            response: Record::UNSTATED,
        };
        assert_eq!(
            parsed(Mqsim, "11565000 1 31244784 64 1"),
            Ok(Some(expected))
        );
    }

    #[test]
    fn time_unit_is_detected_by_the_bandwidth() {
        let of = |bytes: &[u8]| Format::of(&Probe { bytes, whole: true });
        // Two requests of 8 sectors in 1024 ticks are 8 bytes per tick, which is the limit.
        assert_eq!(of(b"0 0 0 8 1\n1024 0 8 8 1\n"), Some(Format::Mqsim));
        assert_eq!(of(b"0 0 0 8 1\n1023 0 8 8 1\n"), Some(Format::SsdsimUs));
        // Requests at a single instant have no bandwidth.
        assert_eq!(of(b"0 0 0 8 1\n0 0 8 8 1\n"), Some(Format::Mqsim));
    }
}
