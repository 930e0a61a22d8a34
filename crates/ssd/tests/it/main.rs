//! Integration tests of the crate, in one binary.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)] // outside test functions too

mod background;
mod bad_blocks;
mod buffer;
mod buffer_durable;
mod buffer_flush;
mod buffer_hits;
mod buffer_time;
mod collections;
mod d4;
mod die_loads;
mod first_come;
mod hardship;
mod modes;
mod page_allocation;
mod placement;
mod power;
mod read_ahead;
mod read_errors;
mod ready_busy_pin;
mod refresh;
mod regulation;
mod schedule;
mod shared;
mod slc_cache;
mod state;
mod trim;
mod verification;
