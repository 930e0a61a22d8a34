//! DiskSim ASCII: milliseconds, device, LBA and size in sectors of 512 bytes, 1 = read or 0 = write.
//!
//! Told from the other formats of five columns by the decimal point of the first column.

use super::{Line, Probe, Reader, Record, flag, is_decimal, is_number, tick};
use crate::Op;
use crate::error::Fault;
use crate::fields::{Blanks, SECTOR};

struct Disksim;

pub(super) fn detect(probe: &Probe) -> bool {
    let point = |field: &[u8]| is_decimal(field) && field.contains(&b'.');
    !super::hil::detect(probe)
        && probe.most(|line| {
            let mut fields = Blanks::new(line);
            fields.text("").is_ok_and(point)
                && (0..4).all(|_| fields.text("").is_ok_and(is_number))
                && fields.end().is_ok()
        })
}

pub(super) fn open(_: &Probe) -> Box<dyn Reader> {
    Box::new(Disksim)
}

impl Line for Disksim {
    const TICK_PS: u64 = tick::NS;

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Option<Record>, Fault> {
        let mut fields = Blanks::new(line);
        let ticks = fields.decimal("time stamp", 6)?;
        let volume = fields.number32("device")?;
        let offset = fields.units("sector", SECTOR)?;
        let bytes = fields.units("size", SECTOR)?;
        let kind = fields.number("flag")?;
        let op = flag(kind, Op::Read, Op::Write).or_else(|reason| fields.fault(reason))?;
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

#[cfg(test)]
mod tests {
    use super::super::parsed;
    use super::*;

    #[test]
    fn a_line_of_postmark() {
        let expected = Record {
            ticks: 7_961_833_000,
            offset: 20_228_336 * 512,
            bytes: 4096,
            volume: 0,
            op: Op::Write,
        };
        assert_eq!(
            parsed(Disksim, "7961.833 0 20228336 8 0"),
            Ok(Some(expected))
        );
    }
}
