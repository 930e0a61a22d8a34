//! Tables as bytes: Arrow IPC streams.

use crate::{ObserveError, Table};
use arrow_ipc::CompressionType;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_schema::ArrowError;

impl Table {
    /// Serialises the table as an Arrow IPC stream, compressed (zstd), with the metadata of its
    /// columns.
    pub fn to_ipc(&self) -> Result<Vec<u8>, ObserveError> {
        self.write_ipc().map_err(|error| ObserveError::Bytes {
            action: "written",
            reason: error.to_string(),
        })
    }

    /// Deserialises a table from an Arrow IPC stream of [`Table::to_ipc`].
    pub fn from_ipc(bytes: &[u8]) -> Result<Self, ObserveError> {
        Self::read_ipc(bytes).map_err(|error| ObserveError::Bytes {
            action: "read",
            reason: error.to_string(),
        })
    }

    fn write_ipc(&self) -> Result<Vec<u8>, ArrowError> {
        let options =
            IpcWriteOptions::default().try_with_compression(Some(CompressionType::ZSTD))?;
        let mut writer = StreamWriter::try_new_with_options(Vec::new(), &self.schema(), options)?;
        for batch in self.batches() {
            writer.write(batch)?;
        }
        writer.into_inner()
    }

    fn read_ipc(bytes: &[u8]) -> Result<Self, ArrowError> {
        let reader = StreamReader::try_new(bytes, None)?;
        let schema = reader.schema();
        Ok(Self::of_batches(
            schema,
            reader.collect::<Result<_, ArrowError>>()?,
        ))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Heading, Table, Values};

    fn table() -> Table {
        Table::new(vec![
            (Heading::new("a", "us", "First"), vec![1.5, 2.5].into()),
            (
                Heading::new("b", "", "Second"),
                vec![None, Some(0.1)].into(),
            ),
            (
                Heading::new("op", "", "Third"),
                Values::Words {
                    words: &["read", "write"],
                    codes: vec![1, 0],
                },
            ),
            (
                Heading::new("lanes", "", "Fourth"),
                Values::Lists {
                    lanes: 2,
                    values: vec![0.0, 1.0, 2.0, 3.0],
                },
            ),
        ])
        .unwrap()
    }

    #[test]
    fn table_round_trips_with_units_types_and_values() {
        let back = Table::from_ipc(&table().to_ipc().unwrap()).unwrap();
        assert_eq!(back.schema(), table().schema());
        assert_eq!(back.batches(), table().batches());
    }

    #[test]
    fn corrupt_bytes_are_refused_with_a_message() {
        let whole = table().to_ipc().unwrap();
        for bytes in [&b""[..], b"rubbish", &whole[..whole.len() / 2]] {
            let message = Table::from_ipc(bytes).unwrap_err().to_string();
            assert!(
                message.starts_with("the bytes of a table cannot be read: "),
                "{message}"
            );
            assert!(!message.contains('\n'), "{message}");
        }
    }
}
