//! Tables for other languages, without a copy.

use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::SchemaRef;

/// Table in the Arrow C stream interface, as held by a `__arrow_c_stream__` capsule.
pub use arrow_array::ffi_stream::FFI_ArrowArrayStream as TableStream;

/// Returns the batches as a C stream that owns them, in order. Releasing the stream frees them.
pub fn into_ffi_stream(schema: SchemaRef, batches: Vec<RecordBatch>) -> TableStream {
    let batches = batches.into_iter().map(Ok);
    TableStream::new(Box::new(RecordBatchIterator::new(batches, schema)))
}

#[cfg(test)]
mod tests {
    use crate::{Heading, Table};
    use arrow_array::RecordBatchReader;
    use arrow_array::ffi_stream::RecordBatchStreamReader;

    #[test]
    fn stream_returns_the_table_with_its_metadata() {
        let heading = Heading::new("erases", "", "Erases of the block");
        let table = Table::new(vec![(heading, vec![3_u64, 5].into())]).unwrap();
        let reader = RecordBatchStreamReader::try_new(table.stream()).unwrap();
        assert_eq!(reader.schema(), table.schema());
        let batches: Vec<_> = reader.map(Result::unwrap).collect();
        assert_eq!(batches, table.batches());
    }
}
