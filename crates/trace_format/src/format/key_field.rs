//! Records that are nothing but keys.

use super::keys64le;

/// Where the key stands in a record of fixed length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyField {
    /// Bytes of a record.
    pub length: usize,
    pub(super) width: Width,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// The record is the key.
    Four,
    /// The record is the key.
    Eight,
    /// The key is eight bytes from the fifth on.
    Inside,
}

impl KeyField {
    /// Appends the keys of whole records.
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
