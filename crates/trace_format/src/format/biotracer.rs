//! BIOtracer traces (Zhou et al., Nexus 5). Columns: LBA in sectors of 512 bytes, size in sectors,
//! size in bytes, type (odd = write), then the times in seconds at which the request was generated,
//! started, submitted and completed.
//!
//! The arrival is the time of generation. The size is that in bytes.

use super::{Line, Probe, Reader, Record, is_decimal, is_number, tick};
use crate::error::Fault;
use crate::fields::{Blanks, SECTOR};
use wordline_block::Op;

struct Biotracer;

pub(super) fn detect(probe: &Probe) -> bool {
    probe.most_rows(|mut fields: Blanks| {
        (0..4).all(|_| fields.is(is_number))
            && (0..4).all(|_| fields.is(is_decimal))
            && fields.end().is_ok()
    })
}

pub(super) fn open(_: &Probe) -> Box<dyn Reader> {
    Box::new(Biotracer)
}

impl Line for Biotracer {
    const TICK_PS: u64 = tick::NS;
    type Fields<'a> = Blanks<'a>;

    #[inline]
    fn parse(&mut self, fields: &mut Blanks<'_>) -> Result<Option<Record>, Fault> {
        let offset = fields.units("sector", SECTOR)?;
        fields.skip("number of sectors")?;
        let bytes = fields.number("size")?;
        let op = if fields.number("type")? % 2 == 1 {
            Op::Write
        } else {
            Op::Read
        };
        let ticks = fields.decimal("time of generation", 9)?;
        for what in ["time of start", "time of submission", "time of completion"] {
            fields.skip(what)?;
        }
        fields.end()?;
        Ok(Some(Record::plain(ticks, op, offset, bytes, 0)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::parsed;
    use super::*;

    #[test]
    fn line_of_the_installing_trace_is_parsed() {
        let expected = Record {
            ticks: 1_398_396_860_168_065_791,
            offset: 4_043_872 * 512,
            bytes: 49_152,
            volume: 0,
            op: Op::Write,
            fua: false,
            response: Record::UNSTATED,
        };
        let line = "4043872\t\t96\t\t49152\t\t5\t\t1398396860.168065791\t\t1398396860.168307510\t\t\
                    1398396860.168322874\t\t1398396860.171732249";
        assert_eq!(parsed(Biotracer, line), Ok(Some(expected)));
    }
}
