//! Keys of records that read one page each.

use super::keys64le;

/// Position of the key in a record of fixed length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyField {
    /// Length of a record. Bytes.
    pub length: usize,
    pub(super) width: Width,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// The record is a key of four bytes.
    Four,
    /// The record is a key of eight bytes.
    Eight,
    /// The key is the eight bytes that start with the fifth byte.
    Inside,
}

impl KeyField {
    /// Appends the keys of `records`, which must be whole records.
    pub fn keys(self, records: &[u8], keys: &mut Vec<u64>) {
        match self.width {
            Width::Four => {
                let (records, _) = records.as_chunks();
                keys.extend(
                    records
                        .iter()
                        .map(|key| u64::from(u32::from_le_bytes(*key))),
                );
            }
            Width::Eight => {
                let (records, _) = records.as_chunks();
                keys.extend(records.iter().map(|key| u64::from_le_bytes(*key)));
            }
            Width::Inside => {
                let records = records.chunks_exact(self.length);
                keys.extend(records.map(|record| keys64le::little(&record[4..12])));
            }
        }
    }
}
