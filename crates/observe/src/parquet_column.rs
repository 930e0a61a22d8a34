//! Columns of a Parquet file whose row group is not full yet.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, ListArray};
use arrow_schema::DataType;
use bytes::Bytes;
use parquet::column::page::{CompressedPage, PageWriteSpec, PageWriter};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Values of a column in a row group, encoded in memory.
pub(crate) struct ColumnChunk {
    writer: ColumnWriter<'static>,
    pages: Pages,
}

impl ColumnChunk {
    pub fn new(column: &ColumnDescPtr, properties: &WriterPropertiesPtr) -> Self {
        let pages = Pages::new();
        let sink = Box::new(pages.clone());
        Self {
            writer: get_column_writer(Arc::clone(column), Arc::clone(properties), sink),
            pages,
        }
    }

    /// Appends the values of `array`, which must have the type of the column.
    pub fn write(&mut self, array: &ArrayRef) -> Result<(), ParquetError> {
        use ColumnWriter as To;
        let written = match (&mut self.writer, array.data_type()) {
            (To::Int32ColumnWriter(to), DataType::UInt32) => {
                let numbers = array.as_primitive::<UInt32Type>().values().inner();
                to.write_batch(numbers.typed_data(), None, None)
            }
            (To::Int64ColumnWriter(to), DataType::UInt64) => {
                let numbers = array.as_primitive::<UInt64Type>().values().inner();
                to.write_batch(numbers.typed_data(), None, None)
            }
            (To::Int64ColumnWriter(to), DataType::Int64) => {
                let numbers = array.as_primitive::<Int64Type>().values();
                to.write_batch(numbers, None, None)
            }
            (To::DoubleColumnWriter(to), DataType::Float64) => {
                let numbers = array.as_primitive::<Float64Type>();
                if to.get_descriptor().max_def_level() == 0 {
                    to.write_batch(numbers.values(), None, None)
                } else {
                    let levels: Vec<i16> = numbers.iter().map(|n| n.is_some().into()).collect();
                    let present: Vec<f64> = numbers.iter().flatten().collect();
                    to.write_batch(&present, Some(&levels), None)
                }
            }
            (To::FloatColumnWriter(to), DataType::List(_)) => {
                let lists = array.as_list::<i32>();
                let (numbers, present, continued) = items(lists);
                to.write_batch(numbers, Some(&present), Some(&continued))
            }
            (To::ByteArrayColumnWriter(to), DataType::Utf8) => {
                let texts: Vec<_> = array.as_string::<i32>().iter().map(text).collect();
                to.write_batch(&texts, None, None)
            }
            (To::ByteArrayColumnWriter(to), DataType::Dictionary(..)) => {
                let coded = array.as_dictionary::<Int32Type>();
                let words: Vec<_> = coded.values().as_string::<i32>().iter().map(text).collect();
                let keys = coded.keys().values().iter();
                let texts: Vec<_> = keys.map(|&key| words[key as usize].clone()).collect();
                to.write_batch(&texts, None, None)
            }
            (_, other) => Err(ParquetError::NYI(format!("a column of {other}"))),
        };
        written.map(drop)
    }

    /// Returns the encoded pages, and their metadata for the file.
    pub fn close(self) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
        let closed = self.writer.close()?;
        Ok((self.pages.take()?, closed))
    }
}

/// Returns the numbers of `lists`, and two levels per item: whether the item exists, and whether it
/// continues the list of the previous item. An empty list has one item that does not exist.
fn items(lists: &ListArray) -> (&[f32], Vec<i16>, Vec<i16>) {
    let (mut present, mut continued) = (Vec::new(), Vec::new());
    for length in lists.offsets().lengths() {
        present.push((length > 0).into());
        continued.push(0);
        let levels = present.len() + length.saturating_sub(1);
        present.resize(levels, 1);
        continued.resize(levels, 1);
    }
    let offsets = lists.value_offsets();
    let range = offsets[0] as usize..offsets[lists.len()] as usize;
    let numbers = lists.values().as_primitive::<Float32Type>().values();
    (&numbers[range], present, continued)
}

fn text(text: Option<&str>) -> ByteArray {
    text.unwrap_or_default().into()
}

/// Pages in memory, shared by their writer and the chunk.
#[derive(Clone)]
struct Pages(Arc<Mutex<TrackedWrite<Vec<u8>>>>);

impl Pages {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(TrackedWrite::new(Vec::new()))))
    }
    fn sink(&self) -> MutexGuard<'_, TrackedWrite<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn take(&self) -> Result<Bytes, ParquetError> {
        let taken = mem::replace(&mut *self.sink(), TrackedWrite::new(Vec::new()));
        taken.into_inner().map(Bytes::from)
    }
}

impl PageWriter for Pages {
    fn write_page(&mut self, page: CompressedPage) -> Result<PageWriteSpec, ParquetError> {
        SerializedPageWriter::new(&mut self.sink()).write_page(page)
    }
    fn close(&mut self) -> Result<(), ParquetError> {
        Ok(())
    }
}
