//! Parquet files that appear whole or not at all.

use crate::ObserveError;
use crate::part::Part;
use arrow_array::{Array, RecordBatch};
use arrow_schema::{Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;
use std::fs::File;
use std::io;
use std::path::Path;

/// A Parquet file (zstd) in the making: written to `<name>.part` beside its place and moved there
/// when finished. Dropped unfinished, it leaves nothing and an older file of its name untouched.
#[derive(Debug)]
pub struct ParquetFile {
    // Before the part, so that the file is closed when it is removed.
    writer: ArrowWriter<File>,
    part: Part,
}

impl ParquetFile {
    /// Starts the file `path`; its folder must exist.
    pub fn create(path: &Path, schema: SchemaRef) -> Result<Self, ObserveError> {
        let properties = properties(&schema).build();
        Self::with(path, schema, properties)
    }

    fn with(
        path: &Path,
        schema: SchemaRef,
        properties: WriterProperties,
    ) -> Result<Self, ObserveError> {
        let (part, file) = Part::create(path)?;
        let writer = ArrowWriter::try_new(file, schema, Some(properties))
            .map_err(|error| refused(part.target(), error))?;
        Ok(Self { writer, part })
    }

    /// Appends rows of the file's schema.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), ObserveError> {
        self.writer
            .write(batch)
            .map_err(|error| refused(self.part.target(), error))
    }

    /// Completes the file and moves it to its place.
    pub fn finish(self) -> Result<(), ObserveError> {
        let Self { mut writer, part } = self;
        let finished = writer.finish();
        finished.map_err(|error| refused(part.target(), error))?;
        let synced = writer.inner().sync_all();
        synced.map_err(|error| part.refuse("write", error))?;
        drop(writer);
        part.put()
    }
}

/// Writes `batches` of `schema` as the Parquet file `path`, whole or not at all.
pub fn write_parquet(
    path: &Path,
    schema: SchemaRef,
    batches: &[RecordBatch],
) -> Result<(), ObserveError> {
    let mut properties = properties(&schema);
    for (place, field) in schema.fields().iter().enumerate() {
        let bytes = |batch: &RecordBatch| batch.column(place).get_buffer_memory_size();
        if batches.iter().map(bytes).sum::<usize>() < LEAST_COMPRESSED_BYTES {
            let column = ColumnPath::from(field.name().as_str());
            properties = properties.set_column_compression(column, Compression::UNCOMPRESSED);
        }
    }
    let mut file = ParquetFile::with(path, schema, properties.build())?;
    batches.iter().try_for_each(|batch| file.write(batch))?;
    file.finish()
}

/// A column that takes less memory is not compressed: the start of a compressor costs more time than
/// its few bytes are worth.
const LEAST_COMPRESSED_BYTES: usize = 4096;

/// Compressed; integers as differences, which suits counters and times better than a dictionary.
fn properties(schema: &Schema) -> WriterPropertiesBuilder {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(concat!("wordline ", env!("CARGO_PKG_VERSION")).to_owned());
    let integers = schema
        .fields()
        .iter()
        .filter(|field| field.data_type().is_integer());
    integers.fold(properties, |properties, field| {
        let column = ColumnPath::from(field.name().as_str());
        properties
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED)
    })
}

fn refused(path: &Path, error: ParquetError) -> ObserveError {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(error) => ObserveError::file(path, "write", *error),
            Err(other) => encoding(path, other.to_string()),
        },
        other => encoding(path, other.to_string()),
    }
}

fn encoding(path: &Path, reason: String) -> ObserveError {
    ObserveError::Parquet {
        path: path.to_owned(),
        reason,
    }
}
