//! Tables that grow row by row.

use crate::table::{batch, dictionary, dictionary_type};
use crate::{Heading, ObserveError, ParquetFile, Table};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, UInt64Array};
use arrow_schema::{DataType, Schema, SchemaRef};
use std::path::Path;
use std::sync::Arc;

/// Interpretation of a column's 64-bit words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Unsigned 64-bit integer.
    U64,
    /// Signed 64-bit column of non-negative numbers, such as times. Other tools subtract signed
    /// numbers more easily than unsigned ones. Numbers of 2^63 and more are refused.
    I64,
    /// Word of a closed vocabulary, as its index.
    Word(&'static [&'static str]),
}

/// Table of `N` columns that is filled row by row, for any number of rows.
///
/// Rows are collected in a buffer that becomes a batch when full. The batch is kept in memory (8
/// bytes per number, 4 per word) or appended to a Parquet file.
#[derive(Debug)]
pub struct RowTable<const N: usize> {
    columns: [(Heading, Kind); N],
    schema: SchemaRef,
    buffer: Vec<[u64; N]>,
    rows: u64,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    Memory(Vec<RecordBatch>),
    File(Box<ParquetFile>),
}

/// Location of the finished rows.
#[derive(Debug)]
pub enum Finished {
    /// The rows are in memory.
    Kept(Table),
    /// The rows are in the requested Parquet file. The value is the number of rows.
    Written(u64),
}

impl<const N: usize> RowTable<N> {
    /// Rows per batch.
    pub const BATCH: usize = 64 * 1024;

    /// Creates a table in memory.
    pub fn in_memory(columns: [(Heading, Kind); N]) -> Self {
        Self::new(columns, schema(&columns), Sink::Memory(Vec::new()))
    }

    /// Creates a table in the Parquet file `path`, which appears when the table is finished.
    pub fn to_parquet(columns: [(Heading, Kind); N], path: &Path) -> Result<Self, ObserveError> {
        let schema = schema(&columns);
        let file = ParquetFile::create(path, Arc::clone(&schema))?;
        Ok(Self::new(columns, schema, Sink::File(Box::new(file))))
    }

    /// Returns the state of a table in memory: its batches, as in [`Table::to_ipc`], and the values
    /// of the rows that are in no batch yet.
    pub fn state(&self) -> Result<(Vec<u8>, Vec<u64>), ObserveError> {
        let batches = match &self.sink {
            Sink::Memory(batches) => batches.clone(),
            Sink::File(_) => Vec::new(),
        };
        let kept = Table::of_batches(Arc::clone(&self.schema), batches).to_ipc()?;
        Ok((kept, self.buffer.concat()))
    }

    /// Creates a table in memory that continues from a state.
    pub fn resume(
        columns: [(Heading, Kind); N],
        (kept, rows): (&[u8], &[u64]),
    ) -> Result<Self, ObserveError> {
        let batches = Table::from_ipc(kept)?.batches().to_vec();
        let kept = batches.iter().map(|batch| batch.num_rows() as u64).sum();
        let mut table = Self::new(columns, schema(&columns), Sink::Memory(batches));
        table.rows = kept;
        table.buffer.extend_from_slice(rows.as_chunks().0);
        Ok(table)
    }

    fn new(columns: [(Heading, Kind); N], schema: SchemaRef, sink: Sink) -> Self {
        Self {
            columns,
            schema,
            buffer: Vec::with_capacity(Self::BATCH),
            rows: 0,
            sink,
        }
    }

    /// Adds a row; each number is interpreted by its column's [`Kind`]. Fails when a batch is full
    /// and cannot be kept; that batch is lost, earlier ones remain.
    #[inline]
    pub fn push(&mut self, row: [u64; N]) -> Result<(), ObserveError> {
        self.buffer.push(row);
        if self.buffer.len() < Self::BATCH {
            Ok(())
        } else {
            self.flush()
        }
    }

    /// Returns the number of rows added.
    pub const fn rows(&self) -> u64 {
        self.rows + self.buffer.len() as u64
    }

    /// Ends the table: returns it, or completes its file.
    pub fn finish(mut self) -> Result<Finished, ObserveError> {
        self.flush()?;
        match self.sink {
            Sink::Memory(batches) => Ok(Finished::Kept(Table::of_batches(self.schema, batches))),
            Sink::File(file) => {
                file.finish()?;
                Ok(Finished::Written(self.rows))
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn flush(&mut self) -> Result<(), ObserveError> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let batch = self.batch();
        self.rows += self.buffer.len() as u64;
        self.buffer.clear();
        match &mut self.sink {
            Sink::Memory(batches) => batches.push(batch?),
            Sink::File(file) => file.write(&batch?)?,
        }
        Ok(())
    }

    fn batch(&self) -> Result<RecordBatch, ObserveError> {
        let arrays = (0..N)
            .map(|column| self.array(column))
            .collect::<Result<_, _>>()?;
        batch(&self.schema, arrays)
    }

    fn array(&self, column: usize) -> Result<ArrayRef, ObserveError> {
        let (heading, kind) = self.columns[column];
        let numbers = self.buffer.iter().map(move |row| row[column]);
        match kind {
            Kind::U64 => Ok(Arc::new(UInt64Array::from_iter_values(numbers))),
            Kind::I64 => signed(heading, numbers),
            Kind::Word(words) => dictionary(heading.name, words, numbers),
        }
    }
}

fn signed(
    heading: Heading,
    numbers: impl Iterator<Item = u64> + Clone,
) -> Result<ArrayRef, ObserveError> {
    match numbers.clone().find(|&number| number > i64::MAX as u64) {
        None => Ok(Arc::new(Int64Array::from_iter_values(
            numbers.map(u64::cast_signed),
        ))),
        Some(number) => Err(ObserveError::Column {
            column: heading.name.to_owned(),
            reason: format!(
                "{number} {} exceeds the range of a signed 64-bit integer",
                heading.unit
            ),
            remedy: "record the rows of a shorter run",
        }),
    }
}

fn schema(columns: &[(Heading, Kind)]) -> SchemaRef {
    let field = |&(heading, kind): &(Heading, Kind)| {
        let kind = match kind {
            Kind::U64 => DataType::UInt64,
            Kind::I64 => DataType::Int64,
            Kind::Word(_) => dictionary_type(),
        };
        heading.field(kind, false)
    };
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [(Heading, Kind); 3] = [
        (Heading::new("index", "", "Number of the row"), Kind::U64),
        (
            Heading::new("op", "", "Kind of request"),
            Kind::Word(&["read", "write"]),
        ),
        (Heading::new("latency_ps", "ps", "Response time"), Kind::I64),
    ];

    #[test]
    fn rows_are_batched_without_loss() {
        let rows = RowTable::<3>::BATCH as u64 + 7;
        let mut table = RowTable::in_memory(COLUMNS);
        for row in 0..rows {
            table.push([row, row % 2, row * 3]).unwrap();
        }
        assert_eq!(table.rows(), rows);
        let Finished::Kept(table) = table.finish().unwrap() else {
            panic!("kept in memory")
        };
        assert_eq!((table.rows() as u64, table.batches().len()), (rows, 2));
        let last = table.batches()[1].column(2);
        let last: &Int64Array = last.as_any().downcast_ref().unwrap();
        assert_eq!(last.value(6).cast_unsigned(), (rows - 1) * 3);
    }

    #[test]
    fn empty_table_keeps_its_schema() {
        let Finished::Kept(table) = RowTable::in_memory(COLUMNS).finish().unwrap() else {
            panic!("kept in memory")
        };
        assert_eq!((table.rows(), table.schema().fields().len()), (0, 3));
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        let mut table = RowTable::in_memory(COLUMNS);
        table.push([0, 0, u64::MAX]).unwrap();
        let message = table.finish().unwrap_err().to_string();
        assert!(
            message.starts_with("column latency_ps: 18446744073709551615 ps exceeds the range of")
        );
        let mut table = RowTable::in_memory(COLUMNS);
        table.push([0, 2, 0]).unwrap();
        assert!(
            table
                .finish()
                .unwrap_err()
                .to_string()
                .starts_with("column op: code 2 ")
        );
    }
}
