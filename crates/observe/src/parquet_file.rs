//! Parquet files that appear whole or not at all.

use crate::ObserveError;
use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A Parquet file (zstd) in the making: written to `<name>.part` beside its place and moved there
/// when finished. Dropped unfinished, it leaves nothing and an older file of its name untouched.
#[derive(Debug)]
pub struct ParquetFile {
    path: PathBuf,
    // Before the part, so that the file is closed when it is removed.
    writer: ArrowWriter<File>,
    part: Part,
}

impl ParquetFile {
    /// Starts the file `path`; its folder must exist.
    pub fn create(path: &Path, schema: SchemaRef) -> Result<Self, ObserveError> {
        let path = target(path)?;
        let part = Part::beside(&path);
        let file =
            File::create(&part.0).map_err(|error| ObserveError::file(&path, "create", error))?;
        let properties = properties(&schema);
        let writer = ArrowWriter::try_new(file, schema, Some(properties))
            .map_err(|error| refused(&path, error))?;
        Ok(Self { path, writer, part })
    }

    /// Appends rows of the file's schema.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), ObserveError> {
        self.writer
            .write(batch)
            .map_err(|error| refused(&self.path, error))
    }

    /// Completes the file and moves it to its place.
    pub fn finish(self) -> Result<(), ObserveError> {
        let Self {
            path,
            mut writer,
            part,
        } = self;
        writer.finish().map_err(|error| refused(&path, error))?;
        writer
            .inner()
            .sync_all()
            .map_err(|error| ObserveError::file(&path, "write", error))?;
        drop(writer);
        fs::rename(&part.0, &path).map_err(|error| ObserveError::file(&path, "replace", error))
    }
}

/// Writes `batches` of `schema` as the Parquet file `path`, whole or not at all.
pub fn write_parquet(
    path: &Path,
    schema: SchemaRef,
    batches: &[RecordBatch],
) -> Result<(), ObserveError> {
    let mut file = ParquetFile::create(path, schema)?;
    batches.iter().try_for_each(|batch| file.write(batch))?;
    file.finish()
}

/// The temporary file; removed when dropped, unless it was moved away before.
#[derive(Debug)]
struct Part(PathBuf);

impl Part {
    fn beside(path: &Path) -> Self {
        let mut name = path.as_os_str().to_owned();
        name.push(".part");
        Self(name.into())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // Gone already after the move; when it cannot be removed there is no one to tell.
        let _ = fs::remove_file(&self.0);
    }
}

/// Where the file goes: a link is followed, and only a regular file is ever replaced.
fn target(path: &Path) -> Result<PathBuf, ObserveError> {
    let refuse = |error| ObserveError::file(path, "create", error);
    if path.file_name().is_none() {
        return Err(refuse(io::Error::new(
            io::ErrorKind::InvalidInput,
            "no file name",
        )));
    }
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(refuse(io::ErrorKind::IsADirectory.into())),
        Ok(found) if !found.is_file() => Err(refuse(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        ))),
        Ok(_) if path.is_symlink() => fs::canonicalize(path).map_err(refuse),
        _ => Ok(path.to_owned()),
    }
}

/// Compressed; integers as differences, which suits counters and times better than a dictionary.
fn properties(schema: &Schema) -> WriterProperties {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(concat!("wordline ", env!("CARGO_PKG_VERSION")).to_owned());
    let integers = schema
        .fields()
        .iter()
        .filter(|field| field.data_type().is_integer());
    integers
        .fold(properties, |properties, field| {
            let column = ColumnPath::from(field.name().as_str());
            properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED)
        })
        .build()
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
