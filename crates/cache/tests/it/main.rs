//! Integration tests of the crate, in one binary.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)] // also outside test functions

mod foreign;
mod ghost;
mod ground_truth;
mod index;
mod laws;
mod oracle;
mod peers;
mod scenarios;
mod suspected;
mod theory;
mod trace;
mod zipf;
