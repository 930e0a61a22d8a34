//! DiskSim ASCII traces. Columns: time in milliseconds, device, LBA and size in sectors of 512
//! bytes, 1 = read or 0 = write.
//!
//! The decimal point in the first column distinguishes the format from `mqsim` and `ssdsim-us`.

use std::io::{self, Write};

use super::disksim_columns::behind_time;
use super::{Line, Probe, Reader, Record, is_decimal, is_number, tick};
use crate::Request;
use crate::conversion_losses::{Losses, sectors, ticks};
use crate::error::Fault;
use crate::fields::{Blanks, SECTOR};
use wordline_block::Op;

struct Disksim;

pub(super) fn detect(probe: &Probe) -> bool {
    let point = |field: &[u8]| is_decimal(field) && field.contains(&b'.');
    !super::hil::detect(probe)
        && probe.most_rows(|mut fields: Blanks| {
            fields.is(point) && (0..4).all(|_| fields.is(is_number)) && fields.end().is_ok()
        })
}

pub(super) fn open(_: &Probe) -> Box<dyn Reader> {
    Box::new(Disksim)
}

impl Line for Disksim {
    const TICK_PS: u64 = tick::NS;
    type Fields<'a> = Blanks<'a>;

    #[inline]
    fn parse(&mut self, fields: &mut Blanks<'_>) -> Result<Option<Record>, Fault> {
        let ticks = fields.decimal("time stamp", 6)?;
        behind_time(fields, ticks, SECTOR)
    }
}

/// Writes a request as a line, and counts the information that the format cannot express.
pub(super) fn line(out: &mut dyn Write, request: &Request, losses: &mut Losses) -> io::Result<()> {
    const NS_PER_MS: u64 = 1_000_000;
    let ns = ticks(request, tick::NS, losses);
    let (first, sectors) = sectors(request, losses);
    let flag = u8::from(request.op == Op::Read);
    let (ms, fraction) = (ns / NS_PER_MS, ns % NS_PER_MS);
    writeln!(
        out,
        "{ms}.{fraction:06} {} {first} {sectors} {flag}",
        request.volume
    )
}

#[cfg(test)]
mod tests {
    use super::super::parsed;
    use super::*;

    #[test]
    fn line_of_the_postmark_trace_is_parsed() {
        let expected = Record {
            ticks: 7_961_833_000,
            offset: 20_228_336 * 512,
            bytes: 4096,
            volume: 0,
            op: Op::Write,
            fua: false,
            response: Record::UNSTATED,
        };
        assert_eq!(
            parsed(Disksim, "7961.833 0 20228336 8 0"),
            Ok(Some(expected))
        );
    }
}
