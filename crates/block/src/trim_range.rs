//! Ranges of a TRIM, as sent to the device (ATA DATA SET MANAGEMENT).

/// Bytes per sector.
const SECTOR: u64 = 512;
/// Maximum number of sectors per range, because the count field has 16 bits.
pub const MAX_SECTORS: u64 = u16::MAX as u64;
/// Ranges per block of 512 bytes.
pub const RANGES_PER_BLOCK: u64 = 64;
/// Maximum bytes that a block of ranges covers: 2 GiB - 32 KiB.
pub const MAX_BYTES_PER_BLOCK: u64 = RANGES_PER_BLOCK * MAX_SECTORS * SECTOR;

/// Range of sectors: an eight-byte entry with 48 bits of address below 16 bits of count, little
/// endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrimRange {
    /// First sector; below 2^48.
    pub sector: u64,
    /// Number of sectors; an entry with 0 is ignored.
    pub sectors: u16,
}

impl TrimRange {
    /// Encodes the entry.
    pub fn to_bytes(self) -> [u8; 8] {
        (self.sector | u64::from(self.sectors) << 48).to_le_bytes()
    }
    /// Decodes an entry. Returns `None` if the count is 0, which means that the entry must be
    /// ignored.
    pub fn from_bytes(bytes: [u8; 8]) -> Option<Self> {
        let entry = u64::from_le_bytes(bytes);
        let range = Self {
            sector: entry & ((1 << 48) - 1),
            sectors: (entry >> 48) as u16,
        };
        (range.sectors > 0).then_some(range)
    }
    /// Returns the first byte, and the length in bytes.
    pub fn bytes(self) -> (u64, u64) {
        (self.sector * SECTOR, u64::from(self.sectors) * SECTOR)
    }
}

/// Splits the sectors that a byte range covers entirely into the fewest ranges, in ascending order.
pub fn trim_ranges(offset: u64, bytes: u64) -> impl Iterator<Item = TrimRange> {
    let (mut next, end) = (offset.div_ceil(SECTOR), (offset + bytes) / SECTOR);
    std::iter::from_fn(move || {
        let sectors = end.checked_sub(next)?.min(MAX_SECTORS);
        let sector = next;
        next += sectors;
        (sectors > 0).then_some(TrimRange {
            sector,
            sectors: sectors as u16,
        })
    })
}

/// Returns the payload size of a TRIM of `bytes` bytes: whole blocks of ranges, at least one.
/// Bytes.
pub fn payload_bytes(bytes: u64) -> u64 {
    let ranges = (bytes / SECTOR).div_ceil(MAX_SECTORS);
    ranges.div_ceil(RANGES_PER_BLOCK).max(1) * SECTOR
}

/// Returns the contiguous stretches that a payload covers, as first byte and length, in the order
/// of the payload. Entries without sectors are ignored, and an entry that starts at the end of the
/// previous one extends it.
pub fn stretches(payload: &[u8]) -> Vec<(u64, u64)> {
    let mut found: Vec<(u64, u64)> = Vec::new();
    for entry in payload.as_chunks::<8>().0 {
        let Some(range) = TrimRange::from_bytes(*entry) else {
            continue;
        };
        let (offset, bytes) = range.bytes();
        match found.last_mut() {
            Some((first, length)) if *first + *length == offset => *length += bytes,
            _ => found.push((offset, bytes)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_ranges_covers_2_gib_minus_32_kib() {
        assert_eq!(MAX_BYTES_PER_BLOCK, (2 << 30) - (32 << 10));
        let ranges = |bytes| trim_ranges(0, bytes).count();
        assert_eq!(ranges(MAX_BYTES_PER_BLOCK), 64);
        assert_eq!(payload_bytes(MAX_BYTES_PER_BLOCK), 512);
        assert_eq!(ranges(MAX_BYTES_PER_BLOCK + 512), 65);
        assert_eq!(payload_bytes(MAX_BYTES_PER_BLOCK + 512), 1024);
        assert_eq!((ranges(511), payload_bytes(511)), (0, 512));
    }

    /// An entry has the LBA in bytes 0 to 5 and the count in bytes 6 and 7.
    #[test]
    fn an_entry_has_48_address_bits_and_16_count_bits() {
        let range = TrimRange {
            sector: 0x0000_1122_3344_5566,
            sectors: 0x7788,
        };
        let bytes = [0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x88, 0x77];
        assert_eq!(range.to_bytes(), bytes);
        assert_eq!(TrimRange::from_bytes(bytes), Some(range));
        assert_eq!(TrimRange::from_bytes([1, 2, 3, 4, 5, 6, 0, 0]), None);
    }

    /// Splitting a stretch and merging its ranges returns the stretch, even with empty entries
    /// between the ranges.
    #[test]
    fn ranges_of_a_stretch_merge_into_that_stretch() {
        let cases = [
            (0, 512),
            (512, 65_535 * 512),
            (4096, 3 << 30),
            (1 << 40, 7 << 30),
        ];
        for (offset, bytes) in cases {
            let mut payload = Vec::new();
            for range in trim_ranges(offset, bytes) {
                payload.extend(range.to_bytes());
                payload.extend([9, 9, 9, 9, 9, 9, 0, 0]); // a count of 0
            }
            assert_eq!(stretches(&payload), [(offset, bytes)]);
        }
        // Sectors that the TRIM covers only partly are not included.
        let partial: Vec<TrimRange> = trim_ranges(100, 1500).collect();
        assert_eq!(
            partial,
            [TrimRange {
                sector: 1,
                sectors: 2
            }]
        );
    }
}
