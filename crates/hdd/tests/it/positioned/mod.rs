//! The disk with positions: against known answers, measured drives, closed forms and naive queues.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // outside test functions too, this file is a test

mod buffer;
mod host;
mod laws;
mod real;
mod workloads;
