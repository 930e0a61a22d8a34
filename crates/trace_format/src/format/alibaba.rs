//! Alibaba Cloud block storage traces, released in 2020 (Li et al., IISWC 2020). Columns: volume,
//! `R` or `W`, offset and size in bytes, time in microseconds. The release has no header; a line
//! with the names of the columns is ignored.

use std::io::{self, Write};

use super::{Line, Probe, Reader, Record, is_number, names, tick, word};
use crate::Request;
use crate::conversion_losses::{Losses, ticks};
use crate::error::Fault;
use crate::fields::Commas;
use wordline_block::Op;

const HEADER: [&str; 5] = ["deviceid", "opcode", "offset", "length", "timestamp"];

struct Alibaba;

pub(super) fn detect(probe: &Probe) -> bool {
    let header = |line| names(line, &HEADER);
    probe.lines().next().is_some_and(header)
        || probe.most_rows(|mut fields: Commas| {
            fields.is(is_number)
                && fields.is(|field| matches!(field, b"R" | b"W"))
                && (0..3).all(|_| fields.is(is_number))
                && fields.end().is_ok()
        })
}

pub(super) fn open(_: &Probe) -> Box<dyn Reader> {
    Box::new(Alibaba)
}

impl Line for Alibaba {
    const TICK_PS: u64 = tick::US;
    type Fields<'a> = Commas<'a>;

    #[inline]
    fn parse(&mut self, fields: &mut Commas<'_>) -> Result<Option<Record>, Fault> {
        let volume = match fields.number32("volume") {
            Ok(volume) => volume,
            Err(_) if names(fields.line(), &HEADER) => return Ok(None),
            Err(fault) => return Err(fault),
        };
        let op = word(fields.text("operation")?).or_else(|reason| fields.fault(reason))?;
        let offset = fields.number("offset")?;
        let bytes = fields.number("size")?;
        let ticks = fields.stamp("time stamp")?;
        fields.end()?;
        Ok(Some(Record::plain(ticks, op, offset, bytes, volume)))
    }
}

/// Writes a request as a line, and counts the information that the format cannot express.
pub(super) fn line(out: &mut dyn Write, request: &Request, losses: &mut Losses) -> io::Result<()> {
    let us = ticks(request, tick::US, losses);
    let op = if request.op == Op::Read { "R" } else { "W" };
    let (volume, offset, bytes) = (request.volume, request.offset, request.bytes);
    writeln!(out, "{volume},{op},{offset},{bytes},{us}")
}

#[cfg(test)]
mod tests {
    use super::super::parsed;
    use super::*;

    /// Line that contains the columns of the release's description.
    #[test]
    fn line_of_the_released_trace_is_parsed() {
        let expected = Record {
            ticks: 1_577_808_144_360_767,
            offset: 8_792_731_648,
            bytes: 16_384,
            volume: 419,
            op: Op::Write,
            fua: false,
            response: Record::UNSTATED,
        };
        let line = "419,W,8792731648,16384,1577808144360767";
        assert_eq!(parsed(Alibaba, line), Ok(Some(expected)));
        let header = "device_id,opcode,offset,length,timestamp";
        assert_eq!(parsed(Alibaba, header), Ok(None));
    }

    #[test]
    fn faults_name_their_column() {
        let of = |line| parsed(Alibaba, line).unwrap_err();
        assert_eq!(
            of("419,X,0,512,1"),
            "column 2: the operation is `X`, neither read nor write"
        );
        assert_eq!(
            of("419,R,0,512,1.5"),
            "column 5: the time stamp is `1.5`, not a whole number"
        );
        assert_eq!(
            of("419,R,0,512"),
            "column 5: the time stamp is missing: the line ends before it"
        );
    }
}
