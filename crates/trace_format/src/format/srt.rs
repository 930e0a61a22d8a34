//! HP SRT traces, version 1.3 (Ruemmler and Wilkes, USENIX Winter 1993). A text header up to the
//! byte 0x0C is followed by records of 14 big-endian 32-bit integers: record size, id, seconds,
//! microseconds, start, stop, bytes, block of 256 bytes, device, driver, cylinder, flags (bit 0 =
//! read), info, queue length.
//!
//! Devices are HP-UX device numbers: 8 bits of driver, 16 of disk, 8 of section. Block numbers are
//! relative to the disk, not to the section. The volume is the disk.

use super::{Piece, Pieces, Probe, Reader, Record, tick};
use crate::error::{Fault, WorkloadError};
use crate::fields::SECTOR;
use crate::input::{Input, PROBE, Stop};
use wordline_block::Op;

const MAGIC: &[u8] = b"$$TR_IOREC";
const HEADER_END: u8 = 0x0c;
const LENGTH: usize = 56;
const BLOCK: u64 = SECTOR / 2;

struct Srt;

pub(super) fn detect(probe: &Probe) -> bool {
    probe.bytes.starts_with(MAGIC)
}

pub(super) fn open(_: &Probe) -> Box<dyn Reader> {
    Box::new(Pieces::new(Srt))
}

impl Piece for Srt {
    const TICK_PS: u64 = tick::US;
    const LENGTH: usize = LENGTH;

    fn head(&mut self, input: &mut Input) -> Result<(), Stop> {
        let end = input
            .peek(PROBE)
            .iter()
            .position(|&byte| byte == HEADER_END);
        match end {
            Some(end) => input.header(end + 1),
            None => Err(Stop::Broken(WorkloadError::new(
                input.path(),
                format!("the header does not end: the first {PROBE} bytes have no byte 0x0C"),
                "name an SRT file, or another format with --format",
            ))),
        }
    }

    fn parse(&mut self, record: &[u8]) -> Result<Record, Fault> {
        let field = |index: usize| {
            record[4 * index..4 * index + 4]
                .iter()
                .fold(0, |value, &byte| value << 8 | u32::from(byte))
        };
        let positive = |index: usize, what: &str| match field(index) {
            value if value >> 31 == 0 => Ok(u64::from(value)),
            value => Err(Fault::new(format!(
                "the {what} {} is negative",
                value.cast_signed()
            ))),
        };
        if field(0) as usize != LENGTH {
            return Err(Fault::new(format!(
                "the record states a length of {} bytes, not {LENGTH}",
                field(0)
            )));
        }
        let (seconds, micros) = (positive(2, "time (s)")?, positive(3, "time (us)")?);
        if micros >= 1_000_000 {
            return Err(Fault::new(format!(
                "the microseconds are {micros}, not below 1000000"
            )));
        }
        let ticks = seconds * 1_000_000 + micros;
        let (offset, bytes) = (positive(7, "block")? * BLOCK, positive(6, "size")?);
        let op = [Op::Write, Op::Read][(field(11) & 1) as usize];
        let disk = (field(8) >> 8) & 0xffff;
        Ok(Record::plain(ticks, op, offset, bytes, disk))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(change: impl Fn(&mut [u32; 14])) -> Vec<u8> {
        let mut fields = [
            56,
            1,
            707_212_986,
            22_479,
            0,
            0,
            8192,
            1040,
            0x0800_0107,
            4,
            0,
            1,
            0,
            0,
        ];
        change(&mut fields);
        fields
            .iter()
            .flat_map(|field| field.to_be_bytes())
            .collect()
    }

    #[test]
    fn valid_record_is_parsed_and_an_invalid_one_states_its_fault() {
        let expected = Record {
            ticks: 707_212_986_022_479,
            offset: 1040 * 256,
            bytes: 8192,
            volume: 1,
            op: Op::Read,
            fua: false,
            response: Record::UNSTATED,
        };
        assert_eq!(Srt.parse(&bytes(|_| ())), Ok(expected));
        let reason = |record: &[u8]| Srt.parse(record).unwrap_err().reason;
        assert_eq!(
            reason(&bytes(|f| f[6] = u32::MAX)),
            "the size -1 is negative"
        );
        assert_eq!(
            reason(&bytes(|f| f[0] = 7)),
            "the record states a length of 7 bytes, not 56"
        );
        assert_eq!(
            reason(&bytes(|f| f[3] = 1_000_000)),
            "the microseconds are 1000000, not below 1000000"
        );
    }
}
