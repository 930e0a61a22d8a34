//! Traces of the ARC paper (Megiddo and Modha, FAST 2003). Columns: first block, number of blocks
//! (512 bytes), an ignored column, sequence number. There are no times and no operations: all
//! requests are reads.

use super::{Line, Probe, Reader, Record, is_number};
use crate::error::Fault;
use crate::fields::{Blanks, SECTOR};
use wordline_block::Op;

struct ArcLis;

pub(super) fn detect(probe: &Probe) -> bool {
    probe.most_rows(|mut fields: Blanks| {
        (0..4).all(|_| fields.is(is_number)) && fields.end().is_ok()
    })
}

pub(super) fn open(_: &Probe) -> Box<dyn Reader> {
    Box::new(ArcLis)
}

impl Line for ArcLis {
    const TICK_PS: u64 = 0;
    type Fields<'a> = Blanks<'a>;

    #[inline]
    fn parse(&mut self, fields: &mut Blanks<'_>) -> Result<Option<Record>, Fault> {
        let offset = fields.units("first block", SECTOR)?;
        let bytes = fields.units("number of blocks", SECTOR)?;
        fields.skip("third column")?;
        fields.skip("sequence number")?;
        fields.end()?;
        Ok(Some(Record::plain(0, Op::Read, offset, bytes, 0)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::parsed;
    use super::*;

    #[test]
    fn line_of_the_p3_trace_is_parsed() {
        let expected = Record {
            ticks: 0,
            offset: 1_842_745 * 512,
            bytes: 64 * 512,
            volume: 0,
            op: Op::Read,
            fua: false,
            response: Record::UNSTATED,
        };
        assert_eq!(parsed(ArcLis, "1842745 64 0 1"), Ok(Some(expected)));
    }
}
