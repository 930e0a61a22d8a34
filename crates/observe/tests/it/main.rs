//! Integration tests of the crate, in one binary.

mod parquet;
mod reader;
mod timeline;
