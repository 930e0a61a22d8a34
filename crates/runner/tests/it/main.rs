//! Integration tests of the crate, in one binary.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)] // outside test functions too

mod array;
mod buffer;
mod cached_cuts;
mod config_numbers;
mod determinism;
mod divisions;
mod drives;
mod duration;
mod energy;
mod limits;
mod live;
mod mixed;
mod overload;
mod parallelism;
mod prepared;
mod queueing;
mod ram_disk;
mod real_traces;
mod reference;
mod resume;
mod shared;
mod streams;
mod timeline;
mod warm_up;
mod write_amplification;
