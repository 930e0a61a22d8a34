//! Block numbers alone, 32 bits little-endian; a block is 4 KiB. No time, no operation: all are reads.
//!
//! Such a file has no mark. It is recognised by not being text, by holding at least 16 numbers, not
//! all equal, and by all of its first numbers being below 2^28 (1 TiB), which random bytes are not.

use super::{Piece, Pieces, Probe, Reader, Record};
use crate::Op;
use crate::error::Fault;

const BLOCK: u64 = 4096;
const FEWEST: usize = 16;
const LIMIT: u32 = 1 << 28;

struct Keys32le;

fn key(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(0, |key, &byte| key << 8 | u32::from(byte))
}

pub(super) fn detect(probe: &Probe) -> bool {
    let keys = || probe.bytes.chunks_exact(4).map(key);
    let fits = !probe.whole || probe.bytes.len().is_multiple_of(4);
    let first = keys().next();
    fits && !probe.is_text()
        && keys().count() >= FEWEST
        && keys().all(|key| key < LIMIT)
        && keys().any(|key| Some(key) != first)
}

pub(super) fn open(_: &Probe) -> Box<dyn Reader> {
    Box::new(Pieces::new(Keys32le))
}

impl Piece for Keys32le {
    const TICK_PS: u64 = 0;
    const LENGTH: usize = 4;

    #[inline]
    fn parse(&mut self, record: &[u8]) -> Result<Record, Fault> {
        Ok(Record {
            ticks: 0,
            offset: u64::from(key(record)) * BLOCK,
            bytes: BLOCK,
            volume: 0,
            op: Op::Read,
            fua: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rubbish_is_not_taken_for_keys() {
        let probe = |bytes: &[u8]| detect(&Probe { bytes, whole: true });
        let keys: Vec<u8> = (0..20_u32)
            .flat_map(|n| (900_000 + n).to_le_bytes())
            .collect();
        assert!(probe(&keys));
        assert!(!probe(&keys[..79]), "not a multiple of four");
        assert!(!probe(&keys[..60]), "too few");
        assert!(!probe(&[0; 80]), "all equal");
        assert!(!probe(
            b"0123456789012345678901234567890123456789012345678901234567890123"
        ));
        let mut stream = wordline_kernel::Stream::new(1, "rubbish");
        let random: Vec<u8> = (0..80).map(|_| stream.bits() as u8).collect();
        assert!(!probe(&random));
    }
}
