//! Integration tests of the crate, in one binary.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // test code, also outside test functions

mod laws;
mod queueing;
mod shared;
