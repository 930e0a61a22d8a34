//! SYSTOR '17 traces (Lee et al.): a header, then time and response time in seconds, R/W, logical
//! unit, offset and size in bytes. The volume is the logical unit.

use super::{Line, Probe, Reader, Record, is_decimal, tick, word};
use crate::error::Fault;
use crate::fields::Commas;

const HEADER: &[u8] = b"Timestamp,Response,IOType,LUN,Offset,Size";

struct Systor;

pub(super) fn detect(probe: &Probe) -> bool {
    probe.begins(HEADER)
        || probe.most_rows(|mut fields: Commas| {
            fields.count() == 6
                && fields.is(is_decimal)
                && fields.skip("").is_ok()
                && fields.is(|field| word(field).is_ok())
        })
}

pub(super) fn open(_: &Probe) -> Box<dyn Reader> {
    Box::new(Systor)
}

impl Line for Systor {
    const TICK_PS: u64 = tick::NS;
    type Fields<'a> = Commas<'a>;

    #[inline]
    fn parse(&mut self, fields: &mut Commas<'_>) -> Result<Option<Record>, Fault> {
        if fields.are(HEADER) {
            return Ok(None);
        }
        let ticks = fields.decimal("time stamp", 9)?;
        fields.skip("response time")?;
        let op = word(fields.text("operation")?).or_else(|reason| fields.fault(reason))?;
        let volume = fields.number32("logical unit")?;
        let offset = fields.number("offset")?;
        let bytes = fields.number("size")?;
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
    fn line_of_the_sample_is_parsed() {
        let expected = Record {
            ticks: 1_456_095_145_133_076_000,
            offset: 899_056_122_368,
            bytes: 131_072,
            volume: 0,
            op: Op::Read,
            fua: false,
            response: Record::UNSTATED,
        };
        let line = "1456095145.133076000,0.000806000,R,0,899056122368,131072";
        assert_eq!(parsed(Systor, line), Ok(Some(expected)));
        assert_eq!(
            parsed(Systor, "Timestamp,Response,IOType,LUN,Offset,Size"),
            Ok(None)
        );
    }
}
