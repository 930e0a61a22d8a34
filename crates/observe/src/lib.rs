//! Observation sinks: time series, Arrow and Parquet tables, timelines.
//!
//! This crate has times, lanes and columns, but no storage concepts; the simulation decides what is
//! recorded. It is the only crate that depends on arrow and parquet.

pub mod busy;
pub mod columns;
pub mod error;
pub mod excess;
pub mod grid;
mod ipc;
mod parquet_column;
pub mod parquet_file;
mod parquet_schema;
mod part;
pub mod rows;
pub mod series;
pub mod stream;
pub mod table;
pub mod timeline;

pub use busy::Busy;
pub use columns::{Column, values};
pub use error::ObserveError;
pub use excess::{Above, Excess};
pub use grid::Grid;
pub use parquet_file::{ParquetFile, write_parquet};
pub use part::Part;
pub use rows::{Finished, Kind, RowTable};
pub use series::{Interval, Intervals};
pub use stream::{TableStream, into_ffi_stream};
pub use table::{Heading, Table, Values};
pub use timeline::{CounterId, Slice, Timeline, TimelineFile, TrackId, Window};
pub use wordline_histogram::{Histogram, Merge, Point, Tally};
