//! Tests of the disk with positions against known results, measured drives, closed forms and
//! reference queues.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // test code, also outside test functions

mod buffer;
mod host;
mod laws;
mod real;
mod workloads;
