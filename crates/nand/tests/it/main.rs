//! Integration tests of the crate, in one binary.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)] // outside test functions too

mod any_cycles;
mod chains_reference;
mod commands;
mod commands_reference;
mod host;
mod package;
mod reference;
mod scenario;
mod scenarios;
mod timing;
