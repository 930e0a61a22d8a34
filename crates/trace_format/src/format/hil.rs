//! HIL FlashSim traces. Columns, separated by tabs: time in milliseconds with six decimals, device,
//! LBA in sectors of 512 bytes, size in pages of 4 KiB, 1 = read.

use super::disksim_columns::behind_time;
use super::{Line, Probe, Reader, Record, is_number, tick};
use crate::error::Fault;
use crate::fields::Blanks;

const PAGE: u64 = 4096;

struct Hil;

pub(super) fn detect(probe: &Probe) -> bool {
    probe.most_rows(|mut fields: Blanks| {
        let six_decimals = |field: &[u8]| {
            field
                .iter()
                .position(|&byte| byte == b'.')
                .is_some_and(|at| field.len() - at == 7)
        };
        fields.line().contains(&b'\t')
            && fields.is(six_decimals)
            && (0..4).all(|_| fields.is(is_number))
            && fields.end().is_ok()
    })
}

pub(super) fn open(_: &Probe) -> Box<dyn Reader> {
    Box::new(Hil)
}

impl Line for Hil {
    const TICK_PS: u64 = tick::NS;
    type Fields<'a> = Blanks<'a>;

    #[inline]
    fn parse(&mut self, fields: &mut Blanks<'_>) -> Result<Option<Record>, Fault> {
        let ticks = fields.decimal("time stamp", 6)?;
        behind_time(fields, ticks, PAGE)
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
            ticks: 640_875_000,
            offset: 522_872 * 512,
            bytes: 3 * 4096,
            volume: 0,
            op: Op::Read,
            fua: false,
            response: Record::UNSTATED,
        };
        assert_eq!(
            parsed(Hil, "640.875000\t0\t522872\t3\t1"),
            Ok(Some(expected))
        );
    }
}
