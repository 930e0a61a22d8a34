//! Handing tables to other languages without a copy.

use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::SchemaRef;

/// A table as the Arrow C stream interface has it: what a `__arrow_c_stream__` capsule holds.
pub use arrow_array::ffi_stream::FFI_ArrowArrayStream as TableStream;

/// The batches as a C stream that owns them, given away in order. Releasing it frees them.
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
    fn a_stream_gives_back_the_table_with_its_metadata() {
        let heading = Heading::new("erases", "", "Erases of the block");
        let table = Table::new(vec![(heading, vec![3_u64, 5].into())]).unwrap();
        let reader = RecordBatchStreamReader::try_new(table.stream()).unwrap();
        assert_eq!(reader.schema(), table.schema());
        let batches: Vec<_> = reader.map(Result::unwrap).collect();
        assert_eq!(batches, table.batches());
    }
}
