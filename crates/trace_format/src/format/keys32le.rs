//! Block numbers of 32 bits, little-endian. A block has 4 KiB. There are no times and no
//! operations: all requests are reads.
//!
//! The format has no magic number. A file is detected if it is not text, contains at least 16
//! numbers that are not all equal, and its first numbers are all below 2^28 (1 TiB). Random bytes
//! do not meet these conditions, nor do pairs of 16-bit numbers ([`is_pairs`]).

use std::collections::BTreeSet;

use super::keys64le::little;
use super::{Piece, Pieces, Probe, Reader, Record};
use crate::error::Fault;
use wordline_block::Op;

const BLOCK: u64 = 4096;
const MIN_KEYS: usize = 16;
const LIMIT: u32 = 1 << 28;

struct Keys32le;

fn key(bytes: &[u8]) -> u32 {
    little(bytes) as u32
}

pub(super) fn detect(probe: &Probe) -> bool {
    let keys = || probe.bytes.chunks_exact(4).map(key);
    let fits = !probe.whole || probe.bytes.len().is_multiple_of(4);
    let first = keys().next();
    fits && !probe.is_text()
        && keys().count() >= MIN_KEYS
        && keys().all(|key| key < LIMIT)
        && keys().any(|key| Some(key) != first)
        && !is_pairs(probe)
}

/// Returns `true` if the numbers look like pairs of 16-bit numbers: upper and lower halves vary,
/// and the lower halves are as small as the upper ones. Among block numbers spread over a disk, one
/// in 16 has such a lower half.
pub(super) fn is_pairs(probe: &Probe) -> bool {
    const VARIED: usize = 8;
    const SMALL: u32 = LIMIT >> 16;
    let keys = || probe.bytes.chunks_exact(4).map(key);
    let varied = |half: fn(u32) -> u32| keys().map(half).collect::<BTreeSet<_>>().len() >= VARIED;
    keys().count() >= MIN_KEYS
        && keys().all(|key| key < LIMIT && key & 0xffff < SMALL)
        && varied(|key| key >> 16)
        && varied(|key| key & 0xffff)
}

pub(super) fn open(_: &Probe) -> Box<dyn Reader> {
    Box::new(Pieces::new(Keys32le))
}

impl Piece for Keys32le {
    const TICK_PS: u64 = 0;
    const LENGTH: usize = 4;

    #[inline]
    fn parse(&mut self, record: &[u8]) -> Result<Record, Fault> {
        Ok(Record::plain(
            0,
            Op::Read,
            u64::from(key(record)) * BLOCK,
            BLOCK,
            0,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::*;

    fn drawn(most: u64, count: usize) -> impl Iterator<Item = u64> {
        let mut stream = wordline_kernel::Rng::new(7, "keys");
        (0..count).map(move |_| stream.below(most))
    }

    #[test]
    fn array_of_16_bit_numbers_is_not_detected_as_32_bit_keys() {
        for most in [100, 1000, 4096] {
            let bytes: Vec<u8> = drawn(most, 2000)
                .flat_map(|key| (key as u16).to_le_bytes())
                .collect();
            let probe = Probe {
                bytes: &bytes,
                whole: true,
            };
            assert!(!probe.is_text() && !detect(&probe), "{most}");
            assert!(Format::of(&probe).is_none(), "{most}");
            assert!(Format::remedy(&probe).starts_with("the file may contain 16-bit numbers"));
        }
    }

    #[test]
    fn blocks_of_large_and_small_disks_are_detected() {
        let all = |keys: &[u64]| {
            let bytes: Vec<u8> = keys
                .iter()
                .flat_map(|&key| (key as u32).to_le_bytes())
                .collect();
            detect(&Probe {
                bytes: &bytes,
                whole: true,
            })
        };
        for most in [20, 4096, 60_000, 1 << 20, 1 << 28] {
            assert!(all(&drawn(most, 2000).collect::<Vec<_>>()), "{most}");
        }
        let runs = |start: u64| (start..start + 2000).collect::<Vec<_>>();
        assert!(all(&runs(0)) && all(&runs(1 << 16)) && all(&runs(123_456_789)));
        let stripes: Vec<u64> = (0..2000).map(|stripe| stripe << 16).collect();
        assert!(all(&stripes));
    }

    #[test]
    fn random_bytes_are_not_detected_as_keys() {
        let probe = |bytes: &[u8]| detect(&Probe { bytes, whole: true });
        let keys: Vec<u8> = (0..20_u32)
            .flat_map(|n| (900_000 + n).to_le_bytes())
            .collect();
        assert!(probe(&keys));
        assert!(
            !probe(&keys[..79]),
            "the length is not a multiple of four bytes"
        );
        assert!(!probe(&keys[..60]), "too few numbers");
        assert!(!probe(&[0; 80]), "all numbers are equal");
        assert!(!probe(
            b"0123456789012345678901234567890123456789012345678901234567890123"
        ));
        let mut stream = wordline_kernel::Rng::new(1, "rubbish");
        let random: Vec<u8> = (0..80).map(|_| stream.bits() as u8).collect();
        assert!(!probe(&random));
    }
}
