//! Integration tests of the crate, in one binary.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)] // also outside test functions

mod adapters;
mod any_bytes;
mod bad_input;
mod clock;
mod columns;
mod convert;
mod generator;
mod idle;
mod keys;
mod real_traces;
mod shared;
mod stat_of_real_traces;
