//! SPC Trace File Format (UMass Trace Repository). Columns: application-specific unit, LBA in
//! sectors of 512 bytes, size in bytes, operation, time in seconds. Further columns are ignored.
//! The volume is the application-specific unit.

use std::io::{self, Write};

use super::{Line, Probe, Reader, Record, is_decimal, is_number, tick, word};
use crate::Request;
use crate::conversion_losses::{Losses, sectors, ticks};
use crate::error::Fault;
use crate::fields::{Commas, SECTOR};
use wordline_block::Op;

struct Spc;

pub(super) fn detect(probe: &Probe) -> bool {
    probe.most_rows(|mut fields: Commas| {
        (0..3).all(|_| fields.is(is_number))
            && fields.is(|field| word(field).is_ok())
            && fields.is(is_decimal)
    })
}

pub(super) fn open(_: &Probe) -> Box<dyn Reader> {
    Box::new(Spc)
}

impl Line for Spc {
    const TICK_PS: u64 = tick::NS;
    type Fields<'a> = Commas<'a>;

    #[inline]
    fn parse(&mut self, fields: &mut Commas<'_>) -> Result<Option<Record>, Fault> {
        let volume = fields.number32("application-specific unit")?;
        let offset = fields.units("LBA", SECTOR)?;
        let bytes = fields.number("size")?;
        let op = word(fields.text("operation")?).or_else(|reason| fields.fault(reason))?;
        let ticks = fields.decimal("time stamp", 9)?;
        Ok(Some(Record::plain(ticks, op, offset, bytes, volume)))
    }
}

/// Writes a request as a line, and counts the information that the format cannot express.
pub(super) fn line(out: &mut dyn Write, request: &Request, losses: &mut Losses) -> io::Result<()> {
    const NS_PER_S: u64 = 1_000_000_000;
    let ns = ticks(request, tick::NS, losses);
    let (first, sectors) = sectors(request, losses);
    let op = if request.op == Op::Read { 'r' } else { 'w' };
    let (s, fraction) = (ns / NS_PER_S, ns % NS_PER_S);
    writeln!(
        out,
        "{},{first},{},{op},{s}.{fraction:09}",
        request.volume,
        sectors * SECTOR
    )
}

#[cfg(test)]
mod tests {
    use super::super::parsed;
    use super::*;

    #[test]
    fn line_of_the_financial1_trace_is_parsed() {
        let expected = Record {
            ticks: 26_214_000,
            offset: 303_574 * 512,
            bytes: 3584,
            volume: 0,
            op: Op::Write,
            fua: false,
            response: Record::UNSTATED,
        };
        assert_eq!(parsed(Spc, "0,303574,3584,w,0.026214"), Ok(Some(expected)));
        assert_eq!(
            parsed(Spc, "0,303574,3584,W,0.026214,7"),
            Ok(Some(expected))
        );
        assert_eq!(
            parsed(Spc, "0,99999999999999999,3584,w,0").unwrap_err(),
            "column 2: the LBA 99999999999999999 (units of 512 bytes) is beyond 2^64 bytes"
        );
        assert_eq!(
            parsed(Spc, "0,1,3584,w,-1.5").unwrap_err(),
            "column 5: the time stamp `-1.5` is negative"
        );
    }
}
