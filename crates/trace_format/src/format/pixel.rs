//! Pixel 6a traces: a header, then process, device, R/W, LBA and size in sectors of 512 bytes, time
//! in seconds.
//!
//! Time stamps contain the error of binary fractions (`159273.83748699998`) and are rounded to
//! nanoseconds. The name of a process may contain commas, so columns are counted from the right.

use super::{Line, Probe, Reader, Record, is_decimal, is_number, tick, word};
use crate::error::Fault;
use crate::fields::{Commas, Row, SECTOR};

const HEADER: &[u8] = b"proces,device,rw_flag,sector,size,timestamp";
const COLUMNS: usize = 6;

struct Pixel;

/// Returns the part of the line after the process name, from its comma.
fn behind_process(line: &[u8]) -> Option<&[u8]> {
    let commas = line
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, byte)| **byte == b',');
    commas
        .map(|(at, _)| at)
        .nth(COLUMNS - 2)
        .map(|at| &line[at..])
}

pub(super) fn detect(probe: &Probe) -> bool {
    probe.begins(HEADER)
        || probe.most(|line| {
            let Some(rest) = behind_process(line) else {
                return false;
            };
            let mut fields = Commas::new(rest);
            fields.skip("").is_ok()
                && fields.is(is_number)
                && fields.is(|field| matches!(field, b"R" | b"W"))
                && (0..2).all(|_| fields.is(is_number))
                && fields.is(is_decimal)
        })
}

pub(super) fn open(_: &Probe) -> Box<dyn Reader> {
    Box::new(Pixel)
}

impl Line for Pixel {
    const TICK_PS: u64 = tick::NS;
    type Fields<'a> = Commas<'a>;

    fn parse(&mut self, fields: &mut Commas<'_>) -> Result<Option<Record>, Fault> {
        if fields.are(HEADER) {
            return Ok(None);
        }
        let line = fields.line();
        let mut fields = Commas::new(behind_process(line).unwrap_or(line));
        fields.skip("process")?;
        let volume = fields.number32("device")?;
        let op = word(fields.text("operation")?).or_else(|reason| fields.fault(reason))?;
        let offset = fields.units("sector", SECTOR)?;
        let bytes = fields.units("size", SECTOR)?;
        let ticks = fields.decimal("time stamp", 9)?;
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
    fn process_names_may_contain_commas() {
        let expected = Record {
            ticks: 159_273_837_487_000,
            offset: 30_175_712 * 512,
            bytes: 4096,
            volume: 8_388_608,
            op: Op::Read,
            fua: false,
            response: Record::UNSTATED,
        };
        let rest = "-225,8388608,R,30175712,8,159273.83748699998";
        assert_eq!(
            parsed(Pixel, &format!("kworker/4:1H{rest}")),
            Ok(Some(expected))
        );
        assert_eq!(parsed(Pixel, &format!("a,b,c{rest}")), Ok(Some(expected)));
        assert_eq!(
            parsed(Pixel, "p,8388608,R,30175712,8,abc").unwrap_err(),
            "column 6: the time stamp is `abc`, not a decimal number"
        );
        assert!(parsed(Pixel, "8388608,R,30175712").is_err());
    }
}
