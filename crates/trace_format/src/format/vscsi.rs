//! VMware vscsi traces, version 1 (CloudPhysics; Waldspurger et al., FAST 2015). A record has 32
//! bytes, little-endian: sequence number and size in bytes (32 bits each), number of scatter-gather
//! elements, SCSI operation and version (16 bits each), LBA in sectors of 512 bytes and time in
//! microseconds (64 bits each).
//!
//! An UNMAP has its ranges in its data (SBC-3), which a record does not contain, so it is a bad
//! line. A WRITE AND VERIFY completes when the data is on the medium (SBC-3), so it counts as a
//! durable write. The FUA bit of other writes is part of the command, of which a record contains
//! only the operation. A WRITE SAME counts as a write, because a record does not show whether it
//! requests an unmap.

use super::keys64le::little;
use super::{Piece, Pieces, Probe, Reader, Record, tick};
use crate::error::Fault;
use crate::fields::SECTOR;
use wordline_block::Op;

const LENGTH: usize = 32;
const VERSION: u16 = 0x0100;
const UNMAP: u16 = 0x42;

struct Vscsi;

/// Returns `true` for WRITE AND VERIFY (10), (16) and (12).
fn is_verified(code: u16) -> bool {
    matches!(code, 0x2e | 0x8e | 0xae)
}

/// Returns the operation of a SCSI operation code; `None` for other commands.
fn operation(code: u16) -> Option<Op> {
    match code {
        0x08 | 0x28 | 0x88 | 0xa8 => Some(Op::Read),
        0x0a | 0x2a | 0x2e | 0x41 | 0x8a | 0x8e | 0x93 | 0xaa | 0xae => Some(Op::Write),
        UNMAP => Some(Op::Trim),
        0x35 | 0x91 => Some(Op::Flush),
        _ => None,
    }
}

pub(super) fn detect(probe: &Probe) -> bool {
    const ENOUGH: usize = 64;
    let records = || probe.bytes.chunks_exact(LENGTH).take(ENOUGH);
    let fits = |record: &[u8]| {
        little(&record[14..16]) == u64::from(VERSION)
            && operation(little(&record[12..14]) as u16).is_some()
    };
    2 * records().filter(|record| fits(record)).count() > records().count()
}

pub(super) fn open(_: &Probe) -> Box<dyn Reader> {
    Box::new(Pieces::new(Vscsi))
}

impl Piece for Vscsi {
    const TICK_PS: u64 = tick::US;
    const LENGTH: usize = LENGTH;

    fn parse(&mut self, record: &[u8]) -> Result<Record, Fault> {
        let version = little(&record[14..16]);
        if version != u64::from(VERSION) {
            return Err(Fault::new(format!(
                "the version is {version:#06x}, not {VERSION:#06x}"
            )));
        }
        let code = little(&record[12..14]) as u16;
        let op = operation(code)
            .ok_or_else(|| Fault::new(format!("the SCSI operation {code:#04x} is unknown")))?;
        if op == Op::Trim {
            let reason =
                "an UNMAP (0x42) has its ranges in its data, which the format does not contain";
            return Err(Fault::new(reason));
        }
        let sector = little(&record[16..24]);
        let offset = sector
            .checked_mul(SECTOR)
            .ok_or_else(|| Fault::new(format!("the LBA {sector} is beyond 2^64 bytes")))?;
        let (offset, bytes) = if op == Op::Flush {
            (0, 0)
        } else {
            (offset, little(&record[4..8]))
        };
        Ok(Record {
            ticks: little(&record[24..32]),
            offset,
            bytes,
            volume: 0,
            op,
            fua: is_verified(code),
            response: Record::UNSTATED,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(version: u16, code: u16) -> Vec<u8> {
        let mut record = Vec::new();
        record.extend_from_slice(&0x8000_00f4_u32.to_le_bytes());
        record.extend_from_slice(&512_u32.to_le_bytes());
        record.extend_from_slice(&1_u32.to_le_bytes());
        record.extend_from_slice(&code.to_le_bytes());
        record.extend_from_slice(&version.to_le_bytes());
        record.extend_from_slice(&42_932_745_u64.to_le_bytes());
        record.extend_from_slice(&5_634_000_000_u64.to_le_bytes());
        record
    }

    #[test]
    fn valid_record_is_parsed_and_an_invalid_one_states_its_fault() {
        let expected = Record {
            ticks: 5_634_000_000,
            offset: 42_932_745 * 512,
            bytes: 512,
            volume: 0,
            op: Op::Write,
            fua: false,
            response: Record::UNSTATED,
        };
        assert_eq!(Vscsi.parse(&bytes(VERSION, 0x2a)), Ok(expected));
        let durable = Record {
            fua: true,
            ..expected
        };
        assert_eq!(Vscsi.parse(&bytes(VERSION, 0x8e)), Ok(durable));
        assert_eq!(
            Vscsi.parse(&bytes(0x0200, 0x2a)).unwrap_err().reason,
            "the version is 0x0200, not 0x0100"
        );
        assert_eq!(
            Vscsi.parse(&bytes(VERSION, 0x12)).unwrap_err().reason,
            "the SCSI operation 0x12 is unknown"
        );
        assert_eq!(
            Vscsi.parse(&bytes(VERSION, UNMAP)).unwrap_err().reason,
            "an UNMAP (0x42) has its ranges in its data, which the format does not contain"
        );
    }
}
