//! Wordline's own CSV: the header `time_ns,op,offset_bytes,size_bytes,volume`, then one request a line.
//!
//! Time counts from the start of the run, in nanoseconds with up to three decimals (picoseconds); it is
//! not moved to the first record. Everything a request holds is kept.

use std::io::{self, Write};

use super::{Line, Origin, Probe, Reader, Record, Render, tick};
use crate::convert::Losses;
use crate::error::{Fault, shown};
use crate::fields::Commas;
use crate::{Op, Request};

const HEADER: &[u8] = b"time_ns,op,offset_bytes,size_bytes,volume";

struct Wordline;

pub(super) fn detect(probe: &Probe) -> bool {
    probe.begins(HEADER)
}

pub(super) fn open(_: &Probe) -> Box<dyn Reader> {
    Box::new(Wordline)
}

impl Line for Wordline {
    const TICK_PS: u64 = tick::PS;
    const ORIGIN: Origin = Origin::Zero;

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Option<Record>, Fault> {
        if line == HEADER {
            return Ok(None);
        }
        let mut fields = Commas::new(line);
        let ticks = fields.decimal("time", 3)?;
        let op = match fields.text("operation")? {
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Trim,
            b"flush" => Op::Flush,
            other => {
                let known = "not read, write, trim or flush";
                return fields.fault(format!("the operation is {}, {known}", shown(other)));
            }
        };
        let offset = fields.number("offset")?;
        let bytes = fields.number("size")?;
        let volume = fields.number32("volume")?;
        fields.end()?;
        Ok(Some(Record {
            ticks,
            offset,
            bytes,
            volume,
            op,
        }))
    }
}

struct Lines;

pub(super) fn render(_timed: bool) -> Box<dyn Render> {
    Box::new(Lines)
}

impl Render for Lines {
    fn head(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(HEADER)?;
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
            Op::Write => "write",
            Op::Trim => "trim",
            Op::Flush => "flush",
        };
        let Request {
            offset,
            bytes,
            volume,
            ..
        } = request;
        if ps == 0 {
            writeln!(out, "{ns},{op},{offset},{bytes},{volume}")
        } else {
            writeln!(out, "{ns}.{ps:03},{op},{offset},{bytes},{volume}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parsed;
    use super::*;

    #[test]
    fn a_line() {
        let expected = Record {
            ticks: 1_234_567,
            offset: 4096,
            bytes: 8192,
            volume: 3,
            op: Op::Trim,
        };
        assert_eq!(
            parsed(Wordline, "1234.567,trim,4096,8192,3"),
            Ok(Some(expected))
        );
        assert_eq!(
            parsed(Wordline, "1,erase,4096,8192,3").unwrap_err(),
            "column 2: the operation is `erase`, not read, write, trim or flush"
        );
    }
}
