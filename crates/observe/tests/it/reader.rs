//! Reads Parquet files like other programs: the Arrow schema in the file, and its values.
#![allow(clippy::unwrap_used, clippy::panic)]

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::convert::try_schema_from_ipc_buffer;
use arrow_schema::{DataType, Fields};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::fs::File;
use std::path::Path;
use wordline_observe::Table;

/// Values of a row in each column: the items of a list, or one value.
type Cells = Vec<Vec<Field>>;

/// Returns the rows of the file.
pub fn read(path: &Path) -> Vec<Cells> {
    let rows = open(path).into_iter().map(Result::unwrap);
    rows.map(|row| row.into_columns().into_iter().map(cell).collect())
        .collect()
}

/// Returns the columns of the file in Arrow types, with their metadata.
pub fn fields(path: &Path) -> Fields {
    let file = open(path);
    let entries = file.metadata().file_metadata().key_value_metadata();
    let entry = entries
        .unwrap()
        .iter()
        .find(|entry| entry.key == "ARROW:schema");
    let bytes = BASE64_STANDARD.decode(entry.unwrap().value.as_ref().unwrap());
    try_schema_from_ipc_buffer(&bytes.unwrap()).unwrap().fields
}

/// Returns the rows of a table in the form in which a file holds them.
pub fn rows(table: &Table) -> Vec<Cells> {
    let cells = |(batch, row): (&RecordBatch, usize)| {
        batch
            .columns()
            .iter()
            .map(|column| values(column, row))
            .collect()
    };
    let batches = table.batches().iter();
    let rows = batches.flat_map(|batch| (0..batch.num_rows()).map(move |row| (batch, row)));
    rows.map(cells).collect()
}

fn open(path: &Path) -> SerializedFileReader<File> {
    SerializedFileReader::new(File::open(path).unwrap()).unwrap()
}

fn cell((_, value): (String, Field)) -> Vec<Field> {
    match value {
        Field::ListInternal(list) => list.elements().to_vec(),
        value => vec![value],
    }
}

fn values(column: &dyn Array, row: usize) -> Vec<Field> {
    let Some(lists) = column.as_list_opt::<i32>() else {
        return vec![value(column, row)];
    };
    let items = lists.value(row);
    (0..items.len()).map(|item| value(&items, item)).collect()
}

fn value(column: &dyn Array, row: usize) -> Field {
    if column.is_null(row) {
        return Field::Null;
    }
    match column.data_type() {
        DataType::UInt32 => Field::UInt(column.as_primitive::<UInt32Type>().value(row)),
        DataType::UInt64 => Field::ULong(column.as_primitive::<UInt64Type>().value(row)),
        DataType::Int64 => Field::Long(column.as_primitive::<Int64Type>().value(row)),
        DataType::Float32 => Field::Float(column.as_primitive::<Float32Type>().value(row)),
        DataType::Float64 => Field::Double(column.as_primitive::<Float64Type>().value(row)),
        DataType::Utf8 => Field::Str(column.as_string::<i32>().value(row).to_owned()),
        DataType::Dictionary(..) => {
            let coded = column.as_dictionary::<Int32Type>();
            value(coded.values(), coded.keys().value(row) as usize)
        }
        other => panic!("no table has columns of {other}"),
    }
}
