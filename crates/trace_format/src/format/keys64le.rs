//! Block numbers of 64 bits, little-endian. A block has 4 KiB. There are no times and no
//! operations: all requests are reads.
//!
//! The format has no magic number. A file is detected if it is not text, contains at least 16
//! numbers that are not all equal, and its first numbers are all below 2^36 (256 TiB). Neither
//! random bytes nor pairs of shorter numbers meet these conditions. Hashed keys need `--format`.

use super::{Piece, Pieces, Probe, Reader, Record};
use crate::error::Fault;
use wordline_block::Op;

const BLOCK: u64 = 4096;
const MIN_KEYS: usize = 16;
const LIMIT: u64 = 1 << 36;

struct Keys64le;

/// Converts up to eight little-endian bytes to a number.
pub(super) fn little(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// Returns the offset of a key's page, in bytes. Fails if it is beyond 2^64 bytes.
pub(super) fn offset(key: u64) -> Result<u64, Fault> {
    key.checked_mul(BLOCK).ok_or_else(|| {
        Fault::new(format!(
            "the key {key} is not the number of a block of 4 KiB below 2^64 bytes"
        ))
    })
}

pub(super) fn detect(probe: &Probe) -> bool {
    let (keys, rest) = probe.bytes.as_chunks();
    let keys = || keys.iter().map(|key| u64::from_le_bytes(*key));
    let first = keys().next();
    (!probe.whole || rest.is_empty())
        && !probe.is_text()
        && keys().count() >= MIN_KEYS
        && keys().all(|key| key < LIMIT)
        && keys().any(|key| Some(key) != first)
}

pub(super) fn open(_: &Probe) -> Box<dyn Reader> {
    Box::new(Pieces::new(Keys64le))
}

impl Piece for Keys64le {
    const TICK_PS: u64 = 0;
    const LENGTH: usize = 8;

    #[inline]
    fn parse(&mut self, record: &[u8]) -> Result<Record, Fault> {
        Ok(Record::plain(
            0,
            Op::Read,
            offset(little(record))?,
            BLOCK,
            0,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::super::keys32le;
    use super::*;

    fn bytes<const WIDTH: usize>(keys: impl Iterator<Item = [u8; WIDTH]>) -> Vec<u8> {
        keys.flatten().collect()
    }
    fn probe(bytes: &[u8]) -> Probe<'_> {
        Probe { bytes, whole: true }
    }

    #[test]
    fn key_widths_are_distinguished() {
        let mut stream = wordline_kernel::Rng::new(1, "keys");
        let mut draw = || stream.below(1 << 24);
        let wide = bytes((0..100).map(|_| draw().to_le_bytes()));
        assert!(detect(&probe(&wide)));
        let narrow = bytes((0..100).map(|_| (draw() as u32).to_le_bytes()));
        assert!(!detect(&probe(&narrow)) && keys32le::detect(&probe(&narrow)));
    }

    #[test]
    fn random_bytes_are_not_detected_as_keys() {
        let keys = bytes((0..20_u64).map(|key| (900_000 + key).to_le_bytes()));
        assert!(detect(&probe(&keys)));
        assert!(
            !detect(&probe(&keys[..156])),
            "the length is not a multiple of eight bytes"
        );
        assert!(!detect(&probe(&keys[..120])), "too few numbers");
        assert!(!detect(&probe(&[0; 160])), "all numbers are equal");
        let mut stream = wordline_kernel::Rng::new(1, "rubbish");
        let random: Vec<u8> = (0..160).map(|_| stream.bits() as u8).collect();
        assert!(!detect(&probe(&random)));
    }

    #[test]
    fn key_beyond_2_64_bytes_is_a_fault() {
        assert_eq!(offset(1 << 51).unwrap(), 1 << 63);
        assert_eq!(
            offset(1 << 52).unwrap_err().reason,
            "the key 4503599627370496 is not the number of a block of 4 KiB below 2^64 bytes"
        );
    }
}
