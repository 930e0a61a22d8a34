//! Integration tests of the crate, in one binary.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)] // outside test functions too

mod block_mapping;
mod edge;
mod families;
mod ground_truth;
mod interleaving;
mod laws;
mod map_in_flash;
mod merges;
mod model;
mod naive;
mod oracle;
mod room;
mod wear;
mod write_amplification;
