//! Parquet files that appear complete or not at all.

use crate::ObserveError;
use crate::parquet_column::ColumnChunk;
use crate::parquet_schema::{arrow_schema, schema_type};
use crate::part::Part;
use arrow_array::{Array, RecordBatch};
use arrow_schema::{Schema, SchemaRef};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Parquet file (zstd) being written. Until it is finished, it has a temporary name next to its
/// final path ([`Part`]). A file that is dropped unfinished is removed, and an older file at the
/// final path stays unchanged.
pub struct ParquetFile {
    // Declared before the part, so that the file is closed before the part is removed.
    writer: SerializedFileWriter<File>,
    /// Row group that is not full yet, by column; empty before its first row.
    chunks: Vec<ColumnChunk>,
    /// Rows of the row group.
    rows: usize,
    schema: SchemaRef,
    part: Part,
}

impl fmt::Debug for ParquetFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ParquetFile");
        shown.field("part", &self.part).finish_non_exhaustive()
    }
}

impl ParquetFile {
    /// Maximum number of rows encoded in memory before they are written to the file.
    pub const ROWS_PER_GROUP: usize = 1024 * 1024;

    /// Creates the file `path`; its directory must exist.
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
        let writer = schema_type(&schema)
            .and_then(|root| SerializedFileWriter::new(file, root, Arc::new(properties)))
            .map_err(|error| refused(part.target(), error))?;
        Ok(Self {
            writer,
            chunks: Vec::new(),
            rows: 0,
            schema,
            part,
        })
    }

    /// Appends rows, which must have the schema of the file.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), ObserveError> {
        self.append(batch)
            .map_err(|error| refused(self.part.target(), error))
    }

    fn append(&mut self, batch: &RecordBatch) -> Result<(), ParquetError> {
        if batch.schema_ref().fields() != self.schema.fields() {
            let reason = "the rows do not have the schema of the file";
            return Err(ParquetError::General(reason.to_owned()));
        }
        let mut written = 0;
        while written < batch.num_rows() {
            let rows = (batch.num_rows() - written).min(Self::ROWS_PER_GROUP - self.rows);
            self.encode(&batch.slice(written, rows))?;
            written += rows;
            if self.rows == Self::ROWS_PER_GROUP {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn encode(&mut self, rows: &RecordBatch) -> Result<(), ParquetError> {
        if self.chunks.is_empty() {
            let columns = self.writer.schema_descr().columns().iter();
            let chunk = |column| ColumnChunk::new(column, self.writer.properties());
            self.chunks = columns.map(chunk).collect();
        }
        for (chunk, values) in self.chunks.iter_mut().zip(rows.columns()) {
            chunk.write(values)?;
        }
        self.rows += rows.num_rows();
        Ok(())
    }

    /// Writes the row group to the file, if it has rows.
    fn flush(&mut self) -> Result<(), ParquetError> {
        self.rows = 0;
        if self.chunks.is_empty() {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        for chunk in self.chunks.drain(..) {
            let (pages, closed) = chunk.close()?;
            group.append_column(&pages, closed)?;
        }
        group.close().map(drop)
    }

    /// Completes the file and moves it to its final path.
    pub fn finish(mut self) -> Result<(), ObserveError> {
        let finished = self.flush().and_then(|()| self.writer.finish());
        finished.map_err(|error| refused(self.part.target(), error))?;
        let Self { writer, part, .. } = self;
        let synced = writer.inner().sync_all();
        synced.map_err(|error| part.refuse("write", error))?;
        drop(writer);
        part.put()
    }
}

/// Writes `batches` of `schema` as the Parquet file `path`, completely or not at all.
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

/// Minimum size of a column to be compressed. Bytes. For a smaller column, starting a compressor
/// costs more time than the saved bytes are worth.
const LEAST_COMPRESSED_BYTES: usize = 4096;

/// Returns the properties of a file: compressed, with integers encoded as differences, which suits
/// counters and times better than a dictionary.
fn properties(schema: &Schema) -> WriterPropertiesBuilder {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(concat!("wordline ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(vec![arrow_schema(schema)]));
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
