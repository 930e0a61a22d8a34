//! Sysinternals DiskMon traces. Columns, separated by tabs: number, time and duration in seconds,
//! disk, Read/Write, LBA and size in sectors of 512 bytes. The volume is the disk.

use super::{Line, Probe, Reader, Record, is_decimal, is_number, tick, word};
use crate::error::Fault;
use crate::fields::{Blanks, SECTOR};

struct Diskmon;

pub(super) fn detect(probe: &Probe) -> bool {
    probe.most_rows(|mut fields: Blanks| {
        fields.count() == 7
            && fields.is(is_number)
            && fields.is(is_decimal)
            && fields.is(is_decimal)
            && fields.skip("").is_ok()
            && fields.is(|field| word(field).is_ok())
    })
}

pub(super) fn open(_: &Probe) -> Box<dyn Reader> {
    Box::new(Diskmon)
}

impl Line for Diskmon {
    const TICK_PS: u64 = tick::NS;
    type Fields<'a> = Blanks<'a>;

    #[inline]
    fn parse(&mut self, fields: &mut Blanks<'_>) -> Result<Option<Record>, Fault> {
        fields.skip("number")?;
        let ticks = fields.decimal("time stamp", 9)?;
        fields.skip("duration")?;
        let volume = fields.number32("disk")?;
        let op = word(fields.text("operation")?).or_else(|reason| fields.fault(reason))?;
        let offset = fields.units("sector", SECTOR)?;
        let bytes = fields.units("length", SECTOR)?;
        fields.end()?;
        Ok(Some(Record::plain(ticks, op, offset, bytes, volume)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::parsed;
    use super::*;
    use wordline_block::Op;

    #[test]
    fn line_of_the_desktop_trace_is_parsed() {
        let expected = Record {
            ticks: 16_375_000,
            offset: 3_271_215 * 512,
            bytes: 4096,
            volume: 0,
            op: Op::Write,
            fua: false,
            response: Record::UNSTATED,
        };
        let line = "0\t0.016375\t0.00038147\t0\tWrite\t3271215\t8";
        assert_eq!(parsed(Diskmon, line), Ok(Some(expected)));
    }
}
