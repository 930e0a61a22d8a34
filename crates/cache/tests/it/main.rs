//! Integration tests of the crate, in one binary.

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
