//! Tables of named, described columns.

use crate::{ObserveError, TableStream, into_ffi_stream, write_parquet};
use arrow_array::builder::{Float32Builder, ListBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
    UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Name and meaning of a column. Unit and description are stored as field metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heading {
    /// Name, unique in its table.
    pub name: &'static str,
    /// Unit of the values; empty for counts and names.
    pub unit: &'static str,
    /// Description of a value, one sentence.
    pub description: &'static str,
}

impl Heading {
    /// Creates a heading; `unit` may be empty.
    pub const fn new(name: &'static str, unit: &'static str, description: &'static str) -> Self {
        Self {
            name,
            unit,
            description,
        }
    }

    pub(crate) fn field(self, kind: DataType, nullable: bool) -> Field {
        let entries = [("unit", self.unit), ("description", self.description)];
        let metadata: HashMap<String, String> = entries
            .into_iter()
            .filter(|(_, text)| !text.is_empty())
            .map(|(key, text)| (key.to_owned(), text.to_owned()))
            .collect();
        Field::new(self.name, kind, nullable).with_metadata(metadata)
    }
}

/// Values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Unsigned 32-bit integers.
    U32(Vec<u32>),
    /// Unsigned 64-bit integers.
    U64(Vec<u64>),
    /// Signed 64-bit integers.
    I64(Vec<i64>),
    /// Floating-point numbers.
    F64(Vec<f64>),
    /// Floating-point numbers, or null.
    MaybeF64(Vec<Option<f64>>),
    /// Text.
    Text(Vec<String>),
    /// Words of a closed vocabulary, as indices into it.
    Words {
        /// Vocabulary, at most 256 words.
        words: &'static [&'static str],
        /// Index of each row's word.
        codes: Vec<u8>,
    },
    /// List of `lanes` numbers in each row.
    Lists {
        /// Numbers per row, at least 1.
        lanes: usize,
        /// Numbers of all rows, row after row.
        values: Vec<f32>,
    },
}

macro_rules! values_from {
    ($($variant:ident($value:ty)),+) => {$(
        impl From<Vec<$value>> for Values {
            fn from(values: Vec<$value>) -> Self {
                Self::$variant(values)
            }
        }
    )+};
}
values_from!(
    U32(u32),
    U64(u64),
    I64(i64),
    F64(f64),
    MaybeF64(Option<f64>),
    Text(String)
);

impl Values {
    fn into_column(self, heading: Heading) -> Result<(Field, ArrayRef), ObserveError> {
        let nullable = matches!(self, Self::MaybeF64(_));
        let array: ArrayRef = match self {
            Self::U32(values) => Arc::new(UInt32Array::from(values)),
            Self::U64(values) => Arc::new(UInt64Array::from(values)),
            Self::I64(values) => Arc::new(Int64Array::from(values)),
            Self::F64(values) => Arc::new(Float64Array::from(values)),
            Self::MaybeF64(values) => Arc::new(Float64Array::from(values)),
            Self::Text(values) => Arc::new(StringArray::from(values)),
            Self::Words { words, codes } => {
                dictionary(heading.name, words, codes.into_iter().map(u64::from))?
            }
            Self::Lists { lanes, values } => lists(heading.name, lanes, &values)?,
        };
        Ok((heading.field(array.data_type().clone(), nullable), array))
    }
}

pub(crate) fn dictionary_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

pub(crate) fn dictionary(
    column: &str,
    words: &[&str],
    codes: impl Iterator<Item = u64> + Clone,
) -> Result<ArrayRef, ObserveError> {
    if let Some(code) = codes.clone().find(|&code| code >= words.len() as u64) {
        return Err(ObserveError::Column {
            column: column.to_owned(),
            reason: format!(
                "code {code} is not less than {}, the number of words",
                words.len()
            ),
            remedy: "give the index of a word",
        });
    }
    let keys = Int32Array::from_iter_values(codes.map(|code| code as i32));
    let words = Arc::new(StringArray::from(words.to_vec()));
    let array = DictionaryArray::<Int32Type>::try_new(keys, words);
    Ok(Arc::new(
        array.map_err(|error| refused(column, error.to_string()))?,
    ))
}

fn lists(column: &str, lanes: usize, values: &[f32]) -> Result<ArrayRef, ObserveError> {
    if lanes == 0 || !values.len().is_multiple_of(lanes) || values.len() > i32::MAX as usize {
        return Err(ObserveError::Column {
            column: column.to_owned(),
            reason: format!(
                "{} numbers cannot be divided into lists of {lanes}",
                values.len()
            ),
            remedy: "give every row a list of the same length, below 2^31 numbers in all",
        });
    }
    let rows = values.chunks_exact(lanes);
    let numbers = Float32Builder::with_capacity(values.len());
    let item = Field::new_list_field(DataType::Float32, false);
    let mut list = ListBuilder::with_capacity(numbers, rows.len()).with_field(item);
    for row in rows {
        list.values().append_slice(row);
        list.append(true);
    }
    Ok(Arc::new(list.finish()))
}

fn refused(column: &str, reason: String) -> ObserveError {
    ObserveError::Column {
        column: column.to_owned(),
        reason,
        remedy: "give every column one value per row and the type of its schema",
    }
}

/// Table in memory: a schema with unit and description of every column, and its rows in batches.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Table {
    /// Creates a table of complete columns with equal lengths and different names.
    pub fn new(columns: Vec<(Heading, Values)>) -> Result<Self, ObserveError> {
        let columns = columns
            .into_iter()
            .map(|(heading, values)| values.into_column(heading))
            .collect::<Result<Vec<_>, _>>()?;
        check(&columns)?;
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
        let schema = Arc::new(Schema::new(fields));
        let batch = batch(&schema, arrays)?;
        Ok(Self {
            schema,
            batches: vec![batch],
        })
    }

    pub(crate) fn of_batches(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches }
    }

    /// Returns the schema; the metadata of every field has `unit` (if it has one) and
    /// `description`.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
    /// Returns the rows, in batches.
    pub fn batches(&self) -> &[RecordBatch] {
        &self.batches
    }
    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
    /// Returns the table as an Arrow C stream that shares its memory.
    pub fn stream(&self) -> TableStream {
        into_ffi_stream(self.schema(), self.batches.clone())
    }
    /// Writes the table as a Parquet file, completely or not at all.
    pub fn write_parquet(&self, path: &Path) -> Result<(), ObserveError> {
        write_parquet(path, self.schema(), &self.batches)
    }
}

pub(crate) fn batch(
    schema: &SchemaRef,
    arrays: Vec<ArrayRef>,
) -> Result<RecordBatch, ObserveError> {
    let first = schema
        .fields()
        .first()
        .map_or("(none)", |field| field.name().as_str());
    RecordBatch::try_new(Arc::clone(schema), arrays)
        .map_err(|error| refused(first, error.to_string()))
}

fn check(columns: &[(Field, ArrayRef)]) -> Result<(), ObserveError> {
    for (index, (field, array)) in columns.iter().enumerate() {
        let (first, rows) = (columns[0].0.name(), columns[0].1.len());
        if array.len() != rows {
            let reason = format!(
                "the column has {} values, but column {first} has {rows}",
                array.len()
            );
            return Err(refused(field.name(), reason));
        }
        if columns[..index]
            .iter()
            .any(|(other, _)| other.name() == field.name())
        {
            return Err(ObserveError::Column {
                column: field.name().clone(),
                reason: "the name is used twice".to_owned(),
                remedy: "name every column differently",
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Heading = Heading::new("a", "us", "First");
    const B: Heading = Heading::new("b", "", "Second");

    #[test]
    fn units_and_descriptions_are_stored_as_metadata() {
        let table = Table::new(vec![(A, vec![1.0].into()), (B, vec![None].into())]).unwrap();
        let schema = table.schema();
        assert_eq!(schema.field(0).metadata()["unit"], "us");
        assert_eq!(schema.field(0).metadata()["description"], "First");
        assert!(!schema.field(1).metadata().contains_key("unit"));
        assert!(schema.field(1).is_nullable() && !schema.field(0).is_nullable());
    }

    #[test]
    fn errors_name_the_mismatched_column() {
        let message = |columns| Table::new(columns).unwrap_err().to_string();
        let uneven = message(vec![(A, vec![1_u64, 2].into()), (B, vec![1_u64].into())]);
        assert!(
            uneven.starts_with("column b: the column has 1 values, but column a has 2; "),
            "{uneven}"
        );
        let twice = message(vec![(A, vec![1_u64].into()), (A, vec![1_u64].into())]);
        assert!(
            twice.starts_with("column a: the name is used twice; "),
            "{twice}"
        );
        let word = message(vec![(
            A,
            Values::Words {
                words: &["read"],
                codes: vec![0, 1],
            },
        )]);
        assert!(
            word.starts_with("column a: code 1 is not less than 1, the number of words; "),
            "{word}"
        );
        let list = message(vec![(
            A,
            Values::Lists {
                lanes: 2,
                values: vec![0.0; 3],
            },
        )]);
        assert!(
            list.starts_with("column a: 3 numbers cannot be divided into lists of 2; "),
            "{list}"
        );
    }
}
