//! Integration tests of the crate, in one binary.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)] // also outside test functions

mod laws;
mod locality;
mod memory;
mod op_fcl;
mod scenarios;
mod zipf;
