//! Tencent Cloud Block Storage traces (Zhang et al., USENIX ATC 2020). Columns: time in seconds,
//! offset and size in sectors of 512 bytes, 0 = read or 1 = write, volume.

use super::{Line, Probe, Reader, Record, flag, is_number, tick};
use crate::error::Fault;
use crate::fields::{Commas, SECTOR};
use wordline_block::Op;

struct Tencent;

pub(super) fn detect(probe: &Probe) -> bool {
    probe.most_rows(|mut fields: Commas| {
        (0..5).all(|_| fields.is(is_number)) && fields.end().is_ok()
    })
}

pub(super) fn open(_: &Probe) -> Box<dyn Reader> {
    Box::new(Tencent)
}

impl Line for Tencent {
    const TICK_PS: u64 = tick::S;
    type Fields<'a> = Commas<'a>;

    #[inline]
    fn parse(&mut self, fields: &mut Commas<'_>) -> Result<Option<Record>, Fault> {
        let ticks = fields.stamp("time stamp")?;
        let offset = fields.units("offset", SECTOR)?;
        let bytes = fields.units("size", SECTOR)?;
        let op = flag(fields, Op::Write, Op::Read)?;
        let volume = fields.number32("volume")?;
        fields.end()?;
        Ok(Some(Record::plain(ticks, op, offset, bytes, volume)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::parsed;
    use super::*;

    #[test]
    fn line_of_the_cbs_trace_is_parsed() {
        let expected = Record {
            ticks: 1_538_323_200,
            offset: 4_247_200 * 512,
            bytes: 128 * 512,
            volume: 1058,
            op: Op::Write,
            fua: false,
            response: Record::UNSTATED,
        };
        assert_eq!(
            parsed(Tencent, "1538323200,4247200,128,1,1058"),
            Ok(Some(expected))
        );
        assert_eq!(
            parsed(Tencent, "1538323200,4247200,128,2,1058").unwrap_err(),
            "column 4: the flag is 2, neither 0 nor 1"
        );
    }
}
