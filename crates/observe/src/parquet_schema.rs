//! Schema of a Parquet file: its column types, and the Arrow schema that they come from.

use arrow_ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteOptions};
use arrow_schema::{DataType, Field, Schema};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::schema::types::{Type, TypePtr};
use std::sync::Arc;

/// Returns the columns as Parquet types.
pub(crate) fn schema_type(schema: &Schema) -> Result<TypePtr, ParquetError> {
    let fields = schema.fields().iter().map(|field| column_type(field));
    let root =
        Type::group_type_builder("arrow_schema").with_fields(fields.collect::<Result<_, _>>()?);
    root.build().map(Arc::new)
}

fn column_type(field: &Field) -> Result<TypePtr, ParquetError> {
    if let (DataType::List(item), false) = (field.data_type(), field.is_nullable()) {
        return list_type(field, item);
    }
    let (physical, logical) = value_type(field.data_type())?;
    if field.is_nullable() && physical != Physical::DOUBLE {
        return Err(ParquetError::NYI(format!("nulls of {}", field.data_type())));
    }
    let built = Type::primitive_type_builder(field.name(), physical)
        .with_logical_type(logical)
        .with_repetition(repetition(field))
        .build();
    built.map(Arc::new)
}

/// Returns the type of a list, which has three levels: the column, the repetition, the item.
fn list_type(field: &Field, item: &Field) -> Result<TypePtr, ParquetError> {
    let repeated = Type::group_type_builder("list")
        .with_fields(vec![column_type(item)?])
        .with_repetition(Repetition::REPEATED)
        .build()?;
    let built = Type::group_type_builder(field.name())
        .with_fields(vec![Arc::new(repeated)])
        .with_logical_type(Some(LogicalType::List))
        .with_repetition(Repetition::REQUIRED)
        .build();
    built.map(Arc::new)
}

fn value_type(of: &DataType) -> Result<(Physical, Option<LogicalType>), ParquetError> {
    Ok(match of {
        DataType::UInt32 => (Physical::INT32, Some(LogicalType::integer(32, false))),
        DataType::UInt64 => (Physical::INT64, Some(LogicalType::integer(64, false))),
        DataType::Int64 => (Physical::INT64, None),
        DataType::Float32 => (Physical::FLOAT, None),
        DataType::Float64 => (Physical::DOUBLE, None),
        DataType::Utf8 => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        DataType::Dictionary(_, words) => value_type(words)?,
        other => return Err(ParquetError::NYI(format!("columns of {other}"))),
    })
}

fn repetition(field: &Field) -> Repetition {
    if field.is_nullable() {
        Repetition::OPTIONAL
    } else {
        Repetition::REQUIRED
    }
}

/// Returns the metadata entry from which readers restore the Arrow types, such as words, and the
/// metadata of the columns. It is the schema message of an Arrow IPC stream, in base 64.
pub(crate) fn arrow_schema(schema: &Schema) -> KeyValue {
    let message = IpcDataGenerator::default()
        .schema_to_bytes_with_dictionary_tracker(
            schema,
            &mut DictionaryTracker::new(true),
            &IpcWriteOptions::default(),
        )
        .ipc_message;
    let length = (message.len() as u32).to_le_bytes();
    let framed = [&[0xff; 4], &length, message.as_slice()].concat();
    KeyValue::new("ARROW:schema".to_owned(), BASE64_STANDARD.encode(framed))
}
