//! oracleGeneral traces of libCacheSim. A record has 24 bytes, little-endian: time in seconds (32
//! bits), object (64 bits), size of the object in bytes (32 bits), and the number of the next
//! record of the same object (64 bits, signed), or -1.
//!
//! The format has no magic number. A file is detected if three conditions hold in more than half of
//! its records: the time does not decrease, the size is not 0, and the next record is a later one,
//! -1 or 2^63 - 1. An object counts as one page of 4 KiB, regardless of its size, and each record
//! is a read.

use super::keys64le::{little, offset};
use super::{Piece, Pieces, Probe, Reader, Record, tick};
use crate::error::Fault;
use wordline_block::Op;

const LENGTH: usize = 24;
const PAGE: u64 = 4096;
const MIN_RECORDS: usize = 4;
const NEVER: [u64; 2] = [u64::MAX, i64::MAX as u64];

struct OracleGeneral;

fn fits(index: usize, record: &[u8], before: &[u8]) -> bool {
    let next = little(&record[16..24]);
    let ahead = next > index as u64 && next < 1 << 40;
    little(&record[..4]) >= little(&before[..4])
        && little(&record[12..16]) > 0
        && (ahead || NEVER.contains(&next))
}

pub(super) fn detect(probe: &Probe) -> bool {
    let (records, rest) = probe.bytes.as_chunks::<LENGTH>();
    let pairs = || records.iter().zip(records.iter().skip(1)).enumerate();
    let good = pairs().filter(|&(index, (before, record))| fits(index + 1, record, before));
    (!probe.whole || rest.is_empty())
        && !probe.is_text()
        && records.len() >= MIN_RECORDS
        && 2 * good.count() > records.len()
}

pub(super) fn open(_: &Probe) -> Box<dyn Reader> {
    Box::new(Pieces::new(OracleGeneral))
}

impl Piece for OracleGeneral {
    const TICK_PS: u64 = tick::S;
    const LENGTH: usize = LENGTH;

    #[inline]
    fn parse(&mut self, record: &[u8]) -> Result<Record, Fault> {
        Ok(Record::plain(
            little(&record[..4]),
            Op::Read,
            offset(little(&record[4..12]))?,
            PAGE,
            0,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Format, keys32le, keys64le};
    use super::*;

    /// Returns records of `objects` one second apart, with the numbers of next records as
    /// libCacheSim writes them.
    fn trace(objects: &[u64], size: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (index, object) in objects.iter().enumerate() {
            let rest = objects.iter().skip(index + 1);
            let next = rest.clone().position(|other| other == object);
            let next = next.map_or(u64::MAX, |distance| (index + 1 + distance) as u64);
            bytes.extend(100_u32.wrapping_add(index as u32).to_le_bytes());
            bytes.extend(object.to_le_bytes());
            bytes.extend(size.to_le_bytes());
            bytes.extend(next.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn oracle_general_is_distinguished_from_keys() {
        let mut stream = wordline_kernel::Rng::new(1, "objects");
        for size in [1, 4096] {
            for high in [0, 1 << 63] {
                let objects: Vec<u64> = (0..200).map(|_| stream.below(40) | high).collect();
                let bytes = trace(&objects, size);
                let probe = Probe {
                    bytes: &bytes,
                    whole: true,
                };
                assert!(detect(&probe));
                assert_eq!(Format::of(&probe), Some(Format::OracleGeneral));
                assert!(!keys64le::detect(&probe) && !keys32le::detect(&probe));
            }
        }
    }

    #[test]
    fn keys_are_not_detected_as_oracle_general() {
        let mut stream = wordline_kernel::Rng::new(1, "keys");
        let mut wide = Vec::new();
        let mut narrow = Vec::new();
        for _ in 0..1200 {
            let key = stream.below(1 << 20);
            wide.extend(key.to_le_bytes());
            narrow.extend((key as u32).to_le_bytes());
        }
        for bytes in [wide, narrow, vec![0; 960]] {
            let probe = Probe {
                bytes: &bytes,
                whole: true,
            };
            assert!(!detect(&probe));
        }
    }
}
