//! Wordline's own CSV: the header `time_ns,op,offset_bytes,size_bytes,volume`, then one request per
//! line. A recording may have a sixth column, `response_ns`, with the recorded response time.
//!
//! Times are nanoseconds since the start of the run, with up to three decimals (picoseconds). They
//! are not shifted to the first record. The operation is read, write, write-fua (a write that is
//! durable on completion), trim or flush. The format is lossless.

use std::io::{self, Write};

use super::{Line, Origin, Probe, Reader, Record, Render, tick};
use crate::Request;
use crate::conversion_losses::Losses;
use crate::error::{Fault, shown};
use crate::fields::{Commas, Row, parse_far};
use wordline_block::Op;

pub(super) const HEADER: &str = "time_ns,op,offset_bytes,size_bytes,volume";
const WITH_RESPONSE: &str = "time_ns,op,offset_bytes,size_bytes,volume,response_ns";

struct Wordline {
    /// Whether a line may have the sixth column, which requires that the header has it or is
    /// absent.
    has_response: bool,
}

impl Wordline {
    const fn new() -> Self {
        Self { has_response: true }
    }
}

pub(super) fn detect(probe: &Probe) -> bool {
    probe.begins(HEADER.as_bytes())
}

/// Returns `true` if the first line is a request without a header, or a header in which most of the
/// five column names appear in another form, such as `Time, Op, Offset`.
pub(super) fn resembles(probe: &Probe) -> bool {
    let Some(line) = probe.lines().next() else {
        return false;
    };
    if matches!(Wordline::new().parse(&mut Commas::new(line)), Ok(Some(_))) {
        return true;
    }
    let line = line.to_ascii_lowercase();
    let fields = || line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    let columns: [&[u8]; 5] = [b"time", b"op", b"offset", b"size", b"volume"];
    let named = |column: &&&[u8]| fields().any(|field| field.starts_with(column));
    columns.iter().filter(named).count() >= 3
}

pub(super) fn open(_: &Probe) -> Box<dyn Reader> {
    Box::new(Wordline::new())
}

impl Line for Wordline {
    const TICK_PS: u64 = tick::PS;
    const ORIGIN: Origin = Origin::Zero;
    type Fields<'a> = Commas<'a>;

    fn far(field: &[u8]) -> Option<i128> {
        parse_far(field, 3)
    }

    #[inline]
    fn parse(&mut self, fields: &mut Commas<'_>) -> Result<Option<Record>, Fault> {
        if fields.begin(HEADER.as_bytes()) {
            let has_response = fields.are(WITH_RESPONSE.as_bytes());
            if has_response || fields.are(HEADER.as_bytes()) {
                self.has_response = has_response;
                return Ok(None);
            }
        }
        let ticks = fields.decimal("time", 3)?;
        let (op, fua) = match fields.text("operation")? {
            b"read" => (Op::Read, false),
            b"write" => (Op::Write, false),
            b"write-fua" => (Op::Write, true),
            b"trim" => (Op::Trim, false),
            b"flush" => (Op::Flush, false),
            other => {
                let known = "not read, write, write-fua, trim or flush";
                return fields.fault(format!("the operation is {}, {known}", shown(other)));
            }
        };
        let offset = fields.number("offset")?;
        let bytes = fields.number("size")?;
        if op == Op::Flush && (offset | bytes) > 0 {
            return fields.fault("a flush has no range: its offset and size must be 0");
        }
        let volume = fields.number32("volume")?;
        let mut response = Record::UNSTATED;
        if self.has_response && fields.end().is_err() {
            response = fields.decimal("response time", 3)?;
        }
        fields.end()?;
        Ok(Some(Record {
            ticks,
            offset,
            bytes,
            volume,
            op,
            fua,
            response,
        }))
    }
}

/// Writer of Wordline's own CSV.
pub(super) struct Lines;

impl Render for Lines {
    fn head(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(HEADER.as_bytes())?;
        out.write_all(b"\n")
    }
    fn request(
        &mut self,
        out: &mut dyn Write,
        request: &Request,
        _: &mut Losses,
    ) -> io::Result<()> {
        let (ns, ps) = (request.arrival.ns(), request.arrival.ps() % tick::NS);
        let op = match request.op {
            Op::Read => "read",
            Op::Write if request.fua => "write-fua",
            Op::Write => "write",
            Op::Trim => "trim",
            Op::Flush => "flush",
        };
        let (offset, bytes, volume) = (request.offset, request.bytes, request.volume);
        if ps == 0 {
            writeln!(out, "{ns},{op},{offset},{bytes},{volume}")
        } else {
            writeln!(out, "{ns}.{ps:03},{op},{offset},{bytes},{volume}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Format, parsed};
    use super::*;

    #[test]
    fn description_contains_the_header_as_written() {
        let description = Format::Wordline.description();
        assert!(description.contains(&format!("`{HEADER}`")));
    }

    #[test]
    fn line_is_parsed() {
        let expected = Record {
            ticks: 1_234_567,
            offset: 4096,
            bytes: 8192,
            volume: 3,
            op: Op::Trim,
            fua: false,
            response: Record::UNSTATED,
        };
        assert_eq!(
            parsed(Wordline::new(), "1234.567,trim,4096,8192,3"),
            Ok(Some(expected))
        );
        assert_eq!(
            parsed(Wordline::new(), "1234.567,trim,4096,8192,3,2500.25"),
            Ok(Some(Record {
                response: 2_500_250,
                ..expected
            }))
        );
        assert_eq!(
            parsed(Wordline::new(), "1,trim,4096,8192,3,x").unwrap_err(),
            "column 6: the response time is `x`, not a decimal number"
        );
        assert_eq!(
            parsed(Wordline::new(), "1,erase,4096,8192,3").unwrap_err(),
            "column 2: the operation is `erase`, not read, write, write-fua, trim or flush"
        );
        assert_eq!(
            parsed(Wordline::new(), "1,flush,0,8192,3").unwrap_err(),
            "column 4: a flush has no range: its offset and size must be 0"
        );
    }
}
