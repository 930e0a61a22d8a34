//! Integration tests of the crate, in one binary.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)] // outside test functions too

mod address_map;
mod array;
mod flash_cache;
mod nested;
