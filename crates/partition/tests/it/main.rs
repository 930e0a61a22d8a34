//! Integration tests of the crate, in one binary.

mod laws;
mod locality;
mod memory;
mod op_fcl;
mod scenarios;
mod zipf;
